/**
 * Publishable keys for pages and apps: one per organization and mode. They are public, so they are stored in plain
 * text. They identify an organization and authorize nothing by themselves.
 */
import type mongoose from 'mongoose';
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { date, oneOf, string, unique } from '../rules/base/fields.ts';
import { newToken } from './key.ts';
import { modes, type Mode } from '../rules/access/keys.ts';

const PublishableKeyModel = defineModel('PublishableKey', 'publishable_keys', {
  /** `<organization>:<mode>`, so that two concurrent first reads create one key. */
  _id: string,
  org_id: string,
  mode: oneOf(modes),
  key: unique(string),
  created_at: date,
});
export type PublishableKey = RecordOf<typeof PublishableKeyModel>;

/** The key of a mode, created when it is first read. */
export async function providePublishableKey(orgId: string, mode: Mode, now: Date): Promise<PublishableKey> {
  const standing = await collectionOf(PublishableKeyModel).findOne({ _id: idOf(orgId, mode) });
  return standing ?? (await upsert(orgId, mode, { $setOnInsert: fresh(orgId, mode, now) }));
}

/** Replaces the key by a new one; the old one stops working at once. */
export async function rotatePublishableKey(orgId: string, mode: Mode, now: Date): Promise<PublishableKey> {
  return upsert(orgId, mode, { $set: fresh(orgId, mode, now) });
}

export async function findPublishableKey(key: string): Promise<PublishableKey | null> {
  return collectionOf(PublishableKeyModel).findOne({ key });
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
  update: mongoose.mongo.UpdateFilter<PublishableKey>,
): Promise<PublishableKey> {
  // MongoDB itself repeats the upsert when a concurrent first read inserts the key.
  const stored = await collectionOf(PublishableKeyModel).findOneAndUpdate({ _id: idOf(orgId, mode) }, update, {
    upsert: true,
    returnDocument: 'after',
  });
  return stored!;
}
