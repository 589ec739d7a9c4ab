/**
 * Sends notifications: mails to members and candidates, and messages to the organization's Slack webhook. Mails go
 * through the organization's own mail server or the deployment's, with the sender address of that server. The stored
 * request contains no token and no secret URL.
 */
import { requestOfMail, sendByMail } from '../../../providers/mail/send.ts';
import type { DeliverySender, SenderDeps } from '../../../providers/base/sender.ts';
import { sendToSlackWebhook, slackWebhookPost } from '../../../providers/slack/webhook.ts';
import { letterOf, wordsOf, type Letter } from '../accountletter.ts';
import { routeOf, senderOf, type MailVia } from '../../../providers/mail/settings.ts';
import { admit, inFrame } from '../../../providers/mail/outside.ts';
import type { Delivery } from '../../../models/events/delivery.ts';
import { mailUse, type OutsideMail } from '../../../models/events/outsidemail.ts';
import { DeliveryRefused } from '../../../models/rules/events/delivery.ts';
import { domainOf, nameOf, type Mailbox } from '../../../models/rules/access/mailbox.ts';
import { automaticHeaders, type OutgoingMail } from '../../../models/rules/events/mailout.ts';
import { hiddenLink, type NotificationPayload } from '../../../models/rules/events/notification.ts';
import { defined } from '../../../models/rules/base/defined.ts';

/**
 * `mail`: the mail as it is sent. `shown`: the mail as members see it, without the token. `via`: the server that the
 * mail was written for. `prepare` makes the link valid, or returns false when the mail must not be sent any more.
 */
type Written = {
  mail: OutgoingMail;
  shown: OutgoingMail;
  via: MailVia;
  prepare: Letter['prepare'];
  outside?: OutsideMail;
};
type ByMail = Exclude<NotificationPayload, { slack: unknown }>;

const payloadOf = (delivery: Delivery): NotificationPayload => delivery.payload as NotificationPayload;

const letterIn = (
  delivery: Delivery,
  { account }: Extract<ByMail, { account: unknown }>,
  { secrets, clock }: SenderDeps,
): Promise<Letter | null> => letterOf(delivery, account, { secrets, now: clock() });

/** Writes the mail of a delivery; null when nobody is to get it. */
async function writtenOf(delivery: Delivery, payload: ByMail, deps: SenderDeps): Promise<Written | null> {
  const { _id, org_id, created_at } = delivery;
  const { from, via } = await senderOf(deps, org_id);
  const mailOf = (to: Mailbox, words: { subject: string; text: string }): OutgoingMail => ({
    from,
    to,
    ...words,
    date: created_at.toISOString(),
    // All attempts share this id, so that mail programs show a mail once even when it arrives twice.
    message_id: `<${_id}@${domainOf(from.address)}>`,
    references: [],
    headers: automaticHeaders(_id, false),
  });
  if ('mail' in payload) {
    const { to, ...words } = payload.mail;
    const mail = mailOf(to, words);
    return { mail, shown: mail, via, prepare: () => Promise.resolve(true) };
  }
  if ('invitation' in payload) {
    const letter = await deps.invitations?.(delivery, deps);
    if (!letter) return null;
    const { to, organization, account, words } = letter;
    const named = from.name === '' ? { ...from, name: nameOf(organization) } : from;
    const about = { orgId: org_id, organization, why: 'interview' } as const;
    const made = (shown: boolean): OutgoingMail =>
      inFrame({ ...mailOf(to, words(from, { shown })), from: named }, about, deps, { shown });
    const outside = { orgId: org_id, address: to.address, account, use: mailUse(_id, delivery) };
    return { mail: made(false), shown: made(true), via, prepare: () => Promise.resolve(true), outside };
  }
  const letter = await letterIn(delivery, payload, deps);
  if (!letter) return null;
  const { publicUrl } = deps;
  const words = (hidden?: string) => wordsOf(letter, { publicUrl, via, ...defined({ hidden }) });
  const { to, prepare, outside } = letter;
  const sent = { mail: mailOf(to, words()), shown: mailOf(to, words(hiddenLink)), via, prepare };
  if (!outside) return sent;
  const { use, ...whose } = outside;
  const about = { orgId: org_id, ...whose };
  return {
    ...sent,
    mail: inFrame(sent.mail, about, deps, { shown: false }),
    shown: inFrame(sent.shown, about, deps, { shown: true }),
    // The daily limit of mails to outsiders: for an invitation, the API request has counted this mail already, under
    // the same idempotency key (`use`).
    outside: { orgId: org_id, address: to.address, account: outside.account, use: mailUse(use, delivery) },
  };
}

export const notification: DeliverySender = {
  async unsendable(delivery, deps) {
    const payload = payloadOf(delivery);
    if ('slack' in payload) return false;
    const { via } = await senderOf(deps, delivery.org_id);
    if ((await routeOf(deps, delivery.org_id, via)) === undefined) return true;
    if ('mail' in payload) return false;
    if ('invitation' in payload) return !(await deps.invitations?.(delivery, deps));
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
    if (written.outside && route) await admit(written.outside, route, request, deps);
    if (!(await written.prepare()))
      throw new DeliveryRefused('The account has changed meanwhile.', { request, permanent: true });
    return sendByMail(written.mail, { route, request, signal }, deps);
  },
};
