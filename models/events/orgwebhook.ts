/**
 * The settings of an organization's notifications about tasks and meetings: a Slack webhook, mails, and the selected
 * events. The webhook's URL works like a password, so it is stored encrypted.
 */
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { boolean, date, list, nullable, number, oneOf, orElse, string } from '../rules/base/fields.ts';
import { sealedRecords } from '../base/reseal.ts';
import type { Place } from '../base/secretbox.ts';
import { notifyEvents } from '../rules/events/announcement.ts';

const OrgWebhookModel = defineModel('OrgWebhook', 'org_webhooks', {
  /** The organization's id. */
  _id: string,
  /** The URL of the Slack webhook, encrypted; null when there is no webhook. */
  slack_webhook_url: nullable(string),
  /** Increments each time the URL is saved, so that a disabled webhook is tried again. */
  slack_webhook_version: orElse(number, 0),
  email_notifications: boolean,
  notify_on: list(oneOf(notifyEvents)),
  updated_at: date,
});
export type OrgWebhook = RecordOf<typeof OrgWebhookModel>;

export const slackWebhookPlace = (orgId: string): Place => ({ field: 'org_webhooks.slack_webhook_url', record: orgId });

export const orgWebhookSeals = sealedRecords(OrgWebhookModel, ({ _id, slack_webhook_url: sealed }) => [
  { path: 'slack_webhook_url', sealed, place: slackWebhookPlace(_id) },
]);

export type OrgWebhookSettings = Pick<OrgWebhook, 'slack_webhook_url' | 'email_notifications' | 'notify_on'>;

/** The default settings: all events are selected, but no channel is. */
const initial = { slack_webhook_url: null, email_notifications: false, notify_on: [...notifyEvents] };

export async function findOrgWebhook(
  orgId: string,
): Promise<OrgWebhookSettings & Pick<OrgWebhook, 'slack_webhook_version'>> {
  const stored = await collectionOf(OrgWebhookModel).findOne({ _id: orgId });
  return { ...initial, slack_webhook_version: 0, ...stored };
}

/**
 * Stores the given settings and leaves all others unchanged. `savesUrl`: whether the URL of the Slack webhook is saved,
 * even if the URL is the stored one.
 */
export async function saveOrgWebhook(
  orgId: string,
  given: Partial<OrgWebhookSettings>,
  { savesUrl, now }: { savesUrl: boolean; now: Date },
): Promise<OrgWebhookSettings> {
  const others = Object.entries(initial).filter(([field]) => !(field in given));
  const saved = await collectionOf(OrgWebhookModel).findOneAndUpdate(
    { _id: orgId },
    {
      $set: { ...given, updated_at: now },
      $inc: { slack_webhook_version: savesUrl ? 1 : 0 },
      $setOnInsert: Object.fromEntries(others),
    },
    { upsert: true, returnDocument: 'after' },
  );
  return saved!;
}
