/**
 * The secret with which an organization's backend signs e-mails of customers for its embedded chat: one a mode, sealed,
 * shown once. A replaced one may stay valid for a while beside its successor.
 */
import { cached } from '../base/cached.ts';
import { isDuplicate } from '../base/connect.ts';
import { defineModel, embedded } from '../base/define.ts';
import { modes, type Mode } from '../rules/access/keys.ts';

type Former = { secret: string; until: Date };
export type EmbedSecret = {
  /** `<organization>:<mode>`. */
  _id: string;
  org_id: string;
  mode: Mode;
  /** Sealed: see models/base/secretbox.ts. */
  secret: string;
  former?: Former | null;
  created_at: Date;
};

const EmbedSecretModel = defineModel<EmbedSecret>('EmbedSecret', 'embed_secrets', {
  _id: { type: String, required: true },
  org_id: { type: String, required: true },
  mode: { type: String, enum: modes, required: true },
  secret: { type: String, required: true },
  former: embedded<Former>({ secret: { type: String, required: true }, until: { type: Date, required: true } }),
  created_at: { type: Date, required: true },
});

export async function findEmbedSecret(orgId: string, mode: Mode): Promise<EmbedSecret | null> {
  return EmbedSecretModel.findById(`${orgId}:${mode}`).lean();
}

const recent = cached((id) => EmbedSecretModel.findById(id).lean<EmbedSecret>().exec());

/** As it was within the last second; the process that replaced it knows at once. For embeds, which are looked at again and again. */
export async function recentEmbedSecret(orgId: string, mode: Mode): Promise<EmbedSecret | null> {
  return recent.read(`${orgId}:${mode}`);
}

/** Puts a secret in the place of the one there may be, which stays valid until `formerUntil`. */
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
      // Only while the one that was read stands: of two that race, the later must not make the earlier its predecessor's heir.
      const replaced = await EmbedSecretModel.findOneAndUpdate(
        { _id: `${orgId}:${mode}`, ...(standing ? { secret: standing.secret } : { secret: null }) },
        { $set: next },
        { upsert: true, returnDocument: 'after' },
      )
        .lean()
        .orFail();
      recent.forget(`${orgId}:${mode}`);
      return replaced;
    } catch (error) {
      if (!isDuplicate(error)) throw error;
    }
  }
}
