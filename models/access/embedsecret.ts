/**
 * The secret with which an organization's backend signs the e-mails of its customers for the embedded chat: one per
 * mode, stored sealed and shown once. A replaced secret may stay valid for a while beside its successor.
 */
import { cached } from '../base/cached.ts';
import { isDuplicate } from '../base/connect.ts';
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { date, embedded, nullable, oneOf, optional, string } from '../rules/base/fields.ts';
import { sealedRecords } from '../base/reseal.ts';
import type { Place } from '../base/secretbox.ts';
import { modes, type Mode } from '../rules/access/keys.ts';

const EmbedSecretModel = defineModel('EmbedSecret', 'embed_secrets', {
  /** `<organization>:<mode>`. */
  _id: string,
  org_id: string,
  mode: oneOf(modes),
  /** Sealed: see models/base/secretbox.ts. */
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

/** Of the secret, and of one that it replaced: both are of one record, and take each other's place. */
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

const recent = cached((id) => collectionOf(EmbedSecretModel).findOne({ _id: id }));

/**
 * The secret as it was within the last second. The process that replaced it sees the change at once. For embeds, which
 * check it often.
 */
export async function recentEmbedSecret(orgId: string, mode: Mode): Promise<EmbedSecret | null> {
  return recent.read(`${orgId}:${mode}`);
}

/** Replaces the secret, if there is one; the former one stays valid until `formerUntil`. */
export async function replaceEmbedSecret(
  orgId: string,
  mode: Mode,
  sealed: string,
  formerUntil: Date,
  now: Date,
): Promise<EmbedSecret> {
  for (;;) {
    const standing = await findEmbedSecret(orgId, mode);
    const next = {
      org_id: orgId,
      mode,
      secret: sealed,
      former: standing && formerUntil > now ? { secret: standing.secret, until: formerUntil } : null,
      created_at: now,
    };
    try {
      // Writes only while the secret that was read is still stored. Of two concurrent replacements, the later one then
      // reads the earlier one's secret and keeps that as the former.
      const replaced = await collectionOf(EmbedSecretModel).findOneAndUpdate(
        { _id: `${orgId}:${mode}`, ...(standing ? { secret: standing.secret } : { secret: { $exists: false } }) },
        { $set: next },
        { upsert: true, returnDocument: 'after' },
      );
      recent.forget(`${orgId}:${mode}`);
      return replaced!;
    } catch (error) {
      if (!isDuplicate(error)) throw error;
    }
  }
}
