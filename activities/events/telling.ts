/** The deliveries of notices: to the organization's Slack webhook, and by mail. */
import type { Starter } from '../../providers/base/handled.ts';
import type { User } from '../../models/access/user.ts';
import { createDelivery, DeliveryModel, type Delivery, type NewDelivery } from '../../models/events/delivery.ts';
import {
  memberLane,
  slackLane,
  slackWebhookName,
  type NotificationPayload,
} from '../../models/rules/events/notification.ts';

/** A receiver (`lane`, `line`, `destination`), and the content that it gets (`payload`). */
export type Made = Pick<NewDelivery, 'lane' | 'line' | 'destination' | 'payload'>;

/** The messages of one `line` to the Slack webhook arrive in order. */
export const toSlack = (line: string, text: string): Made => ({
  lane: slackLane,
  line: `notification:${line}:${slackLane}`,
  destination: slackWebhookName,
  payload: { slack: { text } } satisfies NotificationPayload,
});

/** A mail to a member. Its receiver's address is read at the time of sending. */
export const toMember = ({ _id, email }: User, mail: { subject: string; text: string }): Made => ({
  lane: memberLane(_id),
  destination: email,
  payload: { mail } satisfies NotificationPayload,
});

/**
 * Stores a delivery and starts its sending. Returns the stored delivery, which is an earlier one when the event has a
 * delivery on this lane already.
 */
export async function send(
  { start, clock }: Starter & { clock: () => Date },
  fresh: Omit<NewDelivery, 'kind'>,
): Promise<Delivery> {
  const { delivery, intents } = await createDelivery({ ...fresh, kind: 'notification' }, clock());
  await start(DeliveryModel, delivery, intents);
  return delivery;
}
