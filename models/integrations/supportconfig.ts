/** What an organization configured about support. A record exists once something was changed; until then the defaults hold. */
import { cached } from '../base/cached.ts';
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { date, nullable, number, string } from '../rules/base/fields.ts';
import { isDuplicate } from '../base/connect.ts';
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
  /** Counts changes; 0 while nothing was stored. */
  version: number,
  updated_at: nullable(date),
  ...settingsFields,
  ...outboxStateFields,
});
export type SupportConfig = RecordOf<typeof SupportConfigModel>;

/** Of the secret that signs an organization's webhook, and of those that it replaced. */
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

const recent = cached(findSupportConfig);

/** As it was within the last second; the process that changed it knows at once. For questions, which all ask for it. */
export async function recentSupportConfig(orgId: string): Promise<SupportConfig> {
  return recent.read(orgId);
}

/** Stores `next` if nobody changed the configuration since `version` was read; false when somebody did. */
export async function saveSupportConfig(
  orgId: string,
  version: number,
  next: SupportSettings & OutboxState,
  now: Date,
): Promise<boolean> {
  const { kb_segment_strict, outbox_providers, outbox_webhook_url, outbox_webhook_secret, allowed_origins } = next;
  const { outbox_version, outbox_webhook_old_secrets, outbox_webhook_origin } = next;
  const fields = {
    kb_segment_strict,
    outbox_providers,
    outbox_webhook_url,
    outbox_webhook_secret,
    outbox_version,
    outbox_webhook_old_secrets,
    outbox_webhook_origin,
    allowed_origins,
    version: version + 1,
    updated_at: now,
  };
  if (version > 0) {
    const { matchedCount } = await collectionOf(SupportConfigModel).updateOne(
      { _id: orgId, version },
      { $set: fields },
    );
    recent.forget(orgId);
    return matchedCount === 1;
  }
  try {
    await SupportConfigModel.create({ _id: orgId, ...fields });
    recent.forget(orgId);
    return true;
  } catch (error) {
    if (isDuplicate(error)) return false;
    throw error;
  }
}

/**
 * Takes a destination out of those that events are sent to. The version changes in any case, so that who is storing a
 * configuration that names it looks again.
 */
export async function dropOutboxProvider(orgId: string, provider: OutboxProvider, now: Date): Promise<void> {
  await collectionOf(SupportConfigModel).updateOne(
    { _id: orgId },
    { $pull: { outbox_providers: provider }, $inc: { version: 1 }, $set: { updated_at: now } },
  );
  recent.forget(orgId);
}
