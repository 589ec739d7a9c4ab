/**
 * The support settings of an organization. The record is created with the first change; until then the defaults apply.
 */
import { cached } from '../base/cached.ts';
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { date, nullable, number, string } from '../rules/base/fields.ts';
import { unlessDuplicate } from '../base/connect.ts';
import { sealedRecords } from '../base/reseal.ts';
import type { Place } from '../base/secretbox.ts';
import {
  defaultOutboxState,
  defaultSettings,
  outboxStateFields,
  settingsFields,
  type OutboxProvider,
  type OutboxState,
  type SupportSettings,
} from '../rules/integrations/supportconfig.ts';

const SupportConfigModel = defineModel('SupportConfig', 'support_configs', {
  /** The organization's id. */
  _id: string,
  /** For optimistic locking: increments with each change; 0 while nothing is stored. */
  version: number,
  updated_at: nullable(date),
  ...settingsFields,
  ...outboxStateFields,
});
export type SupportConfig = RecordOf<typeof SupportConfigModel>;

/** The `Place` with which the webhook's current and former secrets are encrypted. */
export const webhookSecretPlace = (orgId: string): Place => ({
  field: 'support_configs.outbox_webhook_secret',
  record: orgId,
});

export const supportConfigSeals = sealedRecords(
  SupportConfigModel,
  ({ _id, outbox_webhook_secret: sealed, outbox_webhook_old_secrets: old }) => {
    const place = webhookSecretPlace(_id);
    const former = old.map(({ secret }, index) => ({
      path: `outbox_webhook_old_secrets.${index}.secret`,
      sealed: secret,
      place,
    }));
    return [{ path: 'outbox_webhook_secret', sealed, place }, ...former];
  },
  { versioned: true },
);

export async function findSupportConfig(orgId: string): Promise<SupportConfig> {
  const stored = await collectionOf(SupportConfigModel).findOne({ _id: orgId });
  return { ...defaultSettings, ...defaultOutboxState, _id: orgId, version: 0, updated_at: null, ...stored };
}

/**
 * The settings, cached for less than a second, because every question reads them. The process that changes them sees
 * the change at once.
 */
export const recentSupportConfig = cached(findSupportConfig);

/** Stores `next` with optimistic locking: false when the settings changed since `version` was read. */
export async function saveSupportConfig(
  orgId: string,
  version: number,
  next: SupportSettings & OutboxState,
  now: Date,
): Promise<boolean> {
  const fields = { ...next, _id: orgId, version: version + 1, updated_at: now };
  if (version > 0) {
    const { matchedCount } = await collectionOf(SupportConfigModel).updateOne(
      { _id: orgId, version },
      { $set: fields },
    );
    recentSupportConfig.forget(orgId);
    return matchedCount === 1;
  }
  const created = await unlessDuplicate(() => SupportConfigModel.create(fields));
  recentSupportConfig.forget(orgId);
  return created !== undefined;
}

/**
 * Removes a destination of events. Increments the version in any case, so that a concurrent save that still names the
 * destination fails and retries.
 */
export async function dropOutboxProvider(orgId: string, provider: OutboxProvider, now: Date): Promise<void> {
  await collectionOf(SupportConfigModel).updateOne(
    { _id: orgId },
    { $pull: { outbox_providers: provider }, $inc: { version: 1 }, $set: { updated_at: now } },
  );
  recentSupportConfig.forget(orgId);
}
