/**
 * Publishable keys: one per organization and mode, for pages and apps. They are public by nature, so they are stored
 * readable; they name an organization and never authorize anything by themselves.
 */
import type mongoose from 'mongoose';
import { defineModel } from '../base/define.ts';
import { isDuplicate } from '../base/connect.ts';
import { newToken } from './key.ts';
import { modes, type Mode } from '../rules/access/keys.ts';

export type PublishableKey = {
  /** `<organization>:<mode>`: two first reads that race make one key. */
  _id: string;
  org_id: string;
  mode: Mode;
  key: string;
  created_at: Date;
};

const PublishableKeyModel = defineModel<PublishableKey>('PublishableKey', 'publishable_keys', {
  _id: { type: String, required: true },
  org_id: { type: String, required: true },
  mode: { type: String, enum: modes, required: true },
  key: { type: String, required: true, unique: true },
  created_at: { type: Date, required: true },
});

/** The key of a mode, made now if there is none. */
export async function providePublishableKey(orgId: string, mode: Mode, now: Date): Promise<PublishableKey> {
  const standing = await PublishableKeyModel.findById(idOf(orgId, mode)).lean();
  return standing ?? (await upsert(orgId, mode, { $setOnInsert: fresh(orgId, mode, now) }));
}

/** Puts a new key in the place of the old one, which stops working at once. */
export async function rotatePublishableKey(orgId: string, mode: Mode, now: Date): Promise<PublishableKey> {
  return upsert(orgId, mode, { $set: fresh(orgId, mode, now) });
}

/** Whose key this is; null when nobody has it, or has it no more. */
export async function findPublishableKey(key: string): Promise<PublishableKey | null> {
  return PublishableKeyModel.findOne({ key }).lean();
}

const idOf = (orgId: string, mode: Mode) => `${orgId}:${mode}`;
const fresh = (orgId: string, mode: Mode, now: Date) => ({
  org_id: orgId,
  mode,
  key: newToken('publishable', mode),
  created_at: now,
});

async function upsert(
  orgId: string,
  mode: Mode,
  update: mongoose.UpdateQuery<PublishableKey>,
): Promise<PublishableKey> {
  for (;;) {
    try {
      return await PublishableKeyModel.findOneAndUpdate({ _id: idOf(orgId, mode) }, update, {
        upsert: true,
        returnDocument: 'after',
      })
        .lean()
        .orFail();
    } catch (error) {
      // Another first read inserted between this one's look and its insert: now there is something to find.
      if (!isDuplicate(error)) throw error;
    }
  }
}
