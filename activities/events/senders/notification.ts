/**
 * Sends notifications: mails to members and candidates, and messages to the organization's Slack webhook. The stored
 * request contains no token and no secret URL.
 */
import { sendLetter, writeLetter } from '../../../providers/mail/send.ts';
import type { DeliverySender, Letter, SenderDeps } from '../../../providers/base/sender.ts';
import { sendToSlackWebhook, slackWebhookPost } from '../../../providers/slack/webhook.ts';
import { letterOf } from '../accountletter.ts';
import { hasNoServer } from '../../../providers/mail/settings.ts';
import { isGone } from '../../../models/access/departure.ts';
import { findUser } from '../../../models/access/user.ts';
import type { Delivery } from '../../../models/events/delivery.ts';
import { mailUse } from '../../../models/events/outsidemail.ts';
import { nameOf } from '../../../models/rules/access/mailbox.ts';
import { isAboutTask } from '../../../models/rules/events/announcement.ts';
import { DeliveryRefused } from '../../../models/rules/events/delivery.ts';
import { memberOfLane, type NotificationPayload } from '../../../models/rules/events/notification.ts';

type ByMail = Exclude<NotificationPayload, { slack: unknown }>;

const payloadOf = (delivery: Delivery): NotificationPayload => delivery.payload as NotificationPayload;

/** The letter of a delivery; null when nobody is to get it. */
async function letterIn(delivery: Delivery, payload: ByMail, deps: SenderDeps): Promise<Letter | null> {
  if ('mail' in payload) return letterToMember(delivery, payload.mail);
  if ('invitation' in payload) return (await deps.invitations?.(delivery, deps)) ?? null;
  const { secrets, publicUrl, clock } = deps;
  return letterOf(delivery, payload.account, { secrets, publicUrl, now: clock() });
}

/**
 * The mail to a member; null for a user who has left the organization. The address is the present one of the account,
 * because a mail may wait for days or be sent again much later.
 */
async function letterToMember(delivery: Delivery, words: { subject: string; text: string }): Promise<Letter | null> {
  const { _id, org_id, lane, event_type } = delivery;
  const userId = memberOfLane(lane);
  const user = (await isGone(org_id, userId)) ? null : await findUser(userId);
  if (!user) return null;
  const letter = { to: { name: nameOf(user.name), address: user.email }, words: () => words };
  return isAboutTask(event_type) ? { ...letter, member: { use: mailUse(_id, delivery) } } : letter;
}

/** Writes the mail of a delivery; null when nobody is to get it. */
async function writtenOf(delivery: Delivery, payload: ByMail, deps: SenderDeps) {
  const { _id: id, org_id: orgId, created_at: at } = delivery;
  const letter = await letterIn(delivery, payload, deps);
  return letter && writeLetter(letter, { orgId, id, about: id, at }, deps);
}

export const notification: DeliverySender = {
  async unsendable(delivery, deps) {
    const payload = payloadOf(delivery);
    if ('slack' in payload) return false;
    if (await hasNoServer(delivery.org_id, deps)) return true;
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
    if (written) return written.request;
    return { method: 'MAIL', url: `mailto:${delivery.destination}`, headers: {}, body: '' };
  },

  async send(delivery, deps, signal) {
    const payload = payloadOf(delivery);
    if ('slack' in payload)
      return sendToSlackWebhook(await slackWebhookPost(delivery.org_id, payload.slack.text, deps), deps, signal);
    const written = await writtenOf(delivery, payload, deps);
    if (!written) throw new DeliveryRefused('There is nobody to send it to.', { permanent: true });
    return sendLetter(written, deps, signal);
  },
};
