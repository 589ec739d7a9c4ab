/**
 * The secret with which an organization's backend signs customers' e-mail addresses for the embedded chat. Each mode
 * has one secret. The secret is stored encrypted and shown once. A replaced secret may stay valid for a while.
 */
import { cached } from '../base/cached.ts';
import { againIfDuplicate } from '../base/connect.ts';
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { date, embedded, nullable, oneOf, optional, string } from '../rules/base/fields.ts';
import { sealedRecords } from '../base/reseal.ts';
import type { Place } from '../base/secretbox.ts';
import { modes, type Mode } from '../rules/access/keys.ts';

const EmbedSecretModel = defineModel('EmbedSecret', 'embed_secrets', {
  /** The id: `<organization>:<mode>`. */
  _id: string,
  org_id: string,
  mode: oneOf(modes),
  /** The secret, encrypted; see models/base/secretbox.ts. */
  secret: string,
  former: optional(
    nullable(
      embedded({
        secret: string,
        until: date,
      }),
    ),
  ),
  created_at: date,
});
export type EmbedSecret = RecordOf<typeof EmbedSecretModel>;

/**
 * The `Place` with which the current and the former secret are encrypted. Both secrets have the same `Place`, so that
 * the current secret can become the former one without being encrypted again.
 */
export const embedSecretPlace = (orgId: string, mode: Mode): Place => ({
  field: 'embed_secrets.secret',
  record: `${orgId}:${mode}`,
});

export const embedSecretSeals = sealedRecords(EmbedSecretModel, ({ org_id, mode, secret, former }) => [
  { path: 'secret', sealed: secret, place: embedSecretPlace(org_id, mode) },
  { path: 'former.secret', sealed: former?.secret, place: embedSecretPlace(org_id, mode) },
]);

export async function findEmbedSecret(orgId: string, mode: Mode): Promise<EmbedSecret | null> {
  return collectionOf(EmbedSecretModel).findOne({ _id: `${orgId}:${mode}` });
}

/**
 * The embed secret, cached for less than a second, because embedded chats check it often. The process that replaces the
 * secret sees the change at once.
 */
export const recentEmbedSecret = cached(findEmbedSecret);

/** Stores a new secret; the former one, if any, stays valid until `formerUntil`. */
export async function replaceEmbedSecret(
  orgId: string,
  mode: Mode,
  sealed: string,
  formerUntil: Date,
  now: Date,
): Promise<EmbedSecret> {
  // Optimistic locking: the write happens only while the secret that was read is still stored. Of two concurrent
  // replacements, the later one retries with the earlier one's secret as the former.
  const replaced = await againIfDuplicate(async () => {
    const standing = await findEmbedSecret(orgId, mode);
    const next = {
      org_id: orgId,
      mode,
      secret: sealed,
      former: standing && formerUntil > now ? { secret: standing.secret, until: formerUntil } : null,
      created_at: now,
    };
    return collectionOf(EmbedSecretModel).findOneAndUpdate(
      { _id: `${orgId}:${mode}`, ...(standing ? { secret: standing.secret } : { secret: { $exists: false } }) },
      { $set: next },
      { upsert: true, returnDocument: 'after' },
    );
  });
  recentEmbedSecret.forget(orgId, mode);
  return replaced!;
}
