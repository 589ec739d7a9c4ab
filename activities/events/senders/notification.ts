/**
 * Sends notifications: mails to members and candidates, and messages to the organization's Slack webhook. Mails go
 * through the organization's own mail server or the deployment's, with the sender address of that server. The stored
 * request contains no token and no secret URL.
 */
import { requestOfMail, sendByMail } from '../../../providers/mail/send.ts';
import type { DeliverySender, Letter, SenderDeps } from '../../../providers/base/sender.ts';
import { sendToSlackWebhook, slackWebhookPost } from '../../../providers/slack/webhook.ts';
import { letterOf } from '../accountletter.ts';
import { routeOf, senderOf } from '../../../providers/mail/settings.ts';
import { admit, inFrame } from '../../../providers/mail/outside.ts';
import type { Delivery } from '../../../models/events/delivery.ts';
import { mailUse } from '../../../models/events/outsidemail.ts';
import { DeliveryRefused } from '../../../models/rules/events/delivery.ts';
import { domainOf, nameOf } from '../../../models/rules/access/mailbox.ts';
import { automaticHeaders, type OutgoingMail } from '../../../models/rules/events/mailout.ts';
import type { NotificationPayload } from '../../../models/rules/events/notification.ts';

type ByMail = Exclude<NotificationPayload, { slack: unknown }>;

const payloadOf = (delivery: Delivery): NotificationPayload => delivery.payload as NotificationPayload;

/** The letter of a delivery; null when nobody is to get it. */
async function letterIn(delivery: Delivery, payload: ByMail, deps: SenderDeps): Promise<Letter | null> {
  if ('mail' in payload) {
    const { to, ...words } = payload.mail;
    return { to, words: () => words };
  }
  if ('invitation' in payload) return (await deps.invitations?.(delivery, deps)) ?? null;
  const { secrets, publicUrl, clock } = deps;
  return letterOf(delivery, payload.account, { secrets, publicUrl, now: clock() });
}

/**
 * Writes the mail of a delivery; null when nobody is to get it. `mail`: the mail as it is sent. `shown`: the mail as
 * members see it, without the token. `via`: the server that the mail is written for.
 */
async function writtenOf(delivery: Delivery, payload: ByMail, deps: SenderDeps) {
  const { _id, org_id: orgId, created_at } = delivery;
  const { from, via } = await senderOf(deps, orgId);
  const letter = await letterIn(delivery, payload, deps);
  if (!letter) return null;
  const { to, words, outside, fromName = '' } = letter;
  const made = (shown: boolean): OutgoingMail => {
    const mail = {
      from: from.name === '' ? { ...from, name: nameOf(fromName) } : from,
      to,
      ...words({ from, via, shown }),
      date: created_at.toISOString(),
      // All attempts share this id, so that mail programs show a mail once even when it arrives twice.
      message_id: `<${_id}@${domainOf(from.address)}>`,
      references: [],
      headers: automaticHeaders(_id, false),
    };
    return outside ? inFrame(mail, { orgId, ...outside }, deps, { shown }) : mail;
  };
  return { mail: made(false), shown: made(true), via, letter };
}

export const notification: DeliverySender = {
  async unsendable(delivery, deps) {
    const payload = payloadOf(delivery);
    if ('slack' in payload) return false;
    const { via } = await senderOf(deps, delivery.org_id);
    if ((await routeOf(deps, delivery.org_id, via)) === undefined) return true;
    // An expired mail counts as sendable here, because `send` refuses it and says why.
    const letter = await letterIn(delivery, payload, deps).catch((error: unknown) => {
      if (error instanceof DeliveryRefused) return undefined;
      throw error;
    });
    return letter === null;
  },

  async preview(delivery, deps) {
    const payload = payloadOf(delivery);
    if ('slack' in payload) return (await slackWebhookPost(delivery.org_id, payload.slack.text, deps)).request;
    const written = await writtenOf(delivery, payload, deps);
    if (written) return requestOfMail(written.shown);
    return { method: 'MAIL', url: `mailto:${delivery.destination}`, headers: {}, body: '' };
  },

  async send(delivery, deps, signal) {
    const payload = payloadOf(delivery);
    if ('slack' in payload)
      return sendToSlackWebhook(await slackWebhookPost(delivery.org_id, payload.slack.text, deps), deps, signal);
    const written = await writtenOf(delivery, payload, deps);
    if (!written) throw new DeliveryRefused('There is nobody to send it to.', { permanent: true });
    const request = requestOfMail(written.shown);
    // The mail must not go through another server, which may have been configured since the mail was written.
    const route = await routeOf(deps, delivery.org_id, written.via);
    const { to, outside, prepare } = written.letter;
    if (outside && route) {
      const { account, use } = outside;
      // The API request has counted the mail of an invitation already, under the same idempotency key (`use`).
      const counted = { orgId: delivery.org_id, address: to.address, account, use: mailUse(use, delivery) };
      await admit(counted, route, request, deps);
    }
    if (prepare && !(await prepare()))
      throw new DeliveryRefused('The account has changed meanwhile.', { request, permanent: true });
    return sendByMail(written.mail, { route, request, signal }, deps);
  },
};
