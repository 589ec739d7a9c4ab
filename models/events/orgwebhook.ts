/**
 * Where an organization is told about its tasks and meetings: a webhook of Slack and mails, and of which events. The address of
 * the webhook is its password, so it is sealed.
 */
import { collectionOf, defineModel } from '../base/define.ts';
import { sealedRecords } from '../base/reseal.ts';
import type { Place } from '../base/secretbox.ts';
import { notifyEvents, type NotifyEvent } from '../rules/events/announcement.ts';

export type OrgWebhook = {
  /** The organization's id. */
  _id: string;
  /** Sealed; null: none. */
  slack_webhook_url: string | null;
  email_notifications: boolean;
  notify_on: NotifyEvent[];
  updated_at: Date;
};

const OrgWebhookModel = defineModel<OrgWebhook>('OrgWebhook', 'org_webhooks', {
  _id: { type: String, required: true },
  slack_webhook_url: String,
  email_notifications: { type: Boolean, required: true },
  notify_on: { type: [String], enum: notifyEvents, required: true },
  updated_at: { type: Date, required: true },
});

/** Of the address of an organization's webhook of Slack. */
export const slackWebhookPlace = (orgId: string): Place => ({ field: 'org_webhooks.slack_webhook_url', record: orgId });

export const orgWebhookSeals = sealedRecords(OrgWebhookModel, ({ _id, slack_webhook_url: sealed }) => [
  { path: 'slack_webhook_url', sealed, place: slackWebhookPlace(_id) },
]);

export type OrgWebhookSettings = Pick<OrgWebhook, 'slack_webhook_url' | 'email_notifications' | 'notify_on'>;

/** Before anything was saved: nowhere to tell it, but all of it. */
const initial = { slack_webhook_url: null, email_notifications: false, notify_on: [...notifyEvents] };

export async function findOrgWebhook(orgId: string): Promise<OrgWebhookSettings> {
  return (await collectionOf(OrgWebhookModel).findOne({ _id: orgId })) ?? initial;
}

/** Stores what is given; the rest stays. */
export async function saveOrgWebhook(
  orgId: string,
  given: Partial<OrgWebhookSettings>,
  now: Date,
): Promise<OrgWebhookSettings> {
  const others = Object.entries(initial).filter(([field]) => !(field in given));
  const saved = await collectionOf(OrgWebhookModel).findOneAndUpdate(
    { _id: orgId },
    { $set: { ...given, updated_at: now }, $setOnInsert: Object.fromEntries(others) },
    { upsert: true, returnDocument: 'after' },
  );
  return saved!;
}
