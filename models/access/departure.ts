/**
 * Removals of members. A `Departure` is stored before the member is removed. So even after a crash, the member's keys
 * and invitations end, and the member's tasks are unassigned. While the user is still a member, a `Departure` has no
 * effect.
 */
import { endInvitationsOf } from './invitation.ts';
import { settleKeysOf, type Key } from './key.ts';
import { roleOf } from './organization.ts';
import { findUser } from './user.ts';
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { date, oneOf, optional, string } from '../rules/base/fields.ts';
import { newId } from '../base/ids.ts';
import { pendingField, pendingIndex } from '../base/pending.ts';
import { modes, type Mode } from '../rules/access/keys.ts';
import { defined } from '../rules/base/defined.ts';
import { expiryOf } from '../rules/base/retention.ts';

export const DepartureModel = defineModel(
  'Departure',
  'departures',
  {
    _id: string,
    org_id: string,
    mode: oneOf(modes),
    user_id: string,
    /** The user id of the owner who takes over the member's API keys. */
    keep_keys_for: optional(string),
    /** When the removal began. */
    left_at: date,
    expires_at: date,
    pending: pendingField,
  },
  [{ fields: { expires_at: 1 }, expireAfterSeconds: 0 }, pendingIndex],
);
export type Departure = RecordOf<typeof DepartureModel>;

export const departureOf = (
  orgId: string,
  { userId, keepKeysFor }: { userId: string; keepKeysFor: string | undefined },
  mode: Mode,
  now: Date,
): Departure => ({
  _id: newId('departure'),
  org_id: orgId,
  mode,
  user_id: userId,
  ...defined({ keep_keys_for: keepKeysFor }),
  left_at: now,
  expires_at: expiryOf('departures', now),
});

export async function createDeparture(departure: Departure): Promise<void> {
  await collectionOf(DepartureModel).insertOne(departure);
}

/** Deletes the record of a removal that did not take place. */
export async function forgetDeparture(id: string): Promise<void> {
  await collectionOf(DepartureModel).deleteOne({ _id: id });
}

export const isGone = async (orgId: string, userId: string): Promise<boolean> =>
  (await roleOf(orgId, userId)) === undefined;

/**
 * The keys that a removed member had created. `revoked`: the keys that were revoked. `kept`: the keys that an owner
 * took over.
 */
export type KeysLeft = { revoked: Key[]; kept: Key[] };

/**
 * Ends what a former member could use to return or to keep access: the invitations that they received or sent, and the
 * API keys that they created. With `keepKeysFor`, an owner takes over the keys instead. `leftAt`: the time of the
 * removal; invitations that they received later stay. Idempotent.
 */
export async function endGrants(
  orgId: string,
  { userId, keepKeysFor, leftAt }: { userId: string; keepKeysFor: string | undefined; leftAt: Date },
  now: Date,
): Promise<KeysLeft> {
  if (!(await isGone(orgId, userId))) return { revoked: [], kept: [] };
  await endInvitationsOf(orgId, { userId, email: (await findUser(userId))?.email, leftAt });
  const keys = await settleKeysOf(orgId, userId, keepKeysFor, now);
  return keepKeysFor === undefined ? { revoked: keys, kept: [] } : { revoked: [], kept: keys };
}
