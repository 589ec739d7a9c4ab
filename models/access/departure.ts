/**
 * Members who are taken out of an organization: noted before that happens, so that their grants end and their tasks are given up
 * whatever dies in between. A note of somebody who stayed after all changes nothing.
 */
import { endInvitationsOf } from './invitation.ts';
import { revokeKeysOf, takeOverKeysOf, type Key } from './key.ts';
import { roleOf } from './organization.ts';
import { findUser } from './user.ts';
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { date, oneOf, string } from '../rules/base/fields.ts';
import { newId } from '../base/ids.ts';
import { pendingField, pendingIndex } from '../base/pending.ts';
import { modes, type Mode } from '../rules/access/keys.ts';

/** Longer than any outage after which its work should still be done. */
const keptMs = 30 * 86_400_000;

export const DepartureModel = defineModel(
  'Departure',
  'departures',
  {
    _id: string,
    org_id: string,
    mode: oneOf(modes),
    user_id: string,
    expires_at: date,
    pending: pendingField,
  },
  [{ fields: { expires_at: 1 }, expireAfterSeconds: 0 }, pendingIndex],
);
export type Departure = RecordOf<typeof DepartureModel>;

export const departureOf = (orgId: string, userId: string, mode: Mode, now: Date): Departure => ({
  _id: newId('departure'),
  org_id: orgId,
  mode,
  user_id: userId,
  expires_at: new Date(now.getTime() + keptMs),
});

export async function createDeparture(departure: Departure): Promise<void> {
  await collectionOf(DepartureModel).insertOne(departure);
}

/** Of somebody who stays. */
export async function forgetDeparture(id: string): Promise<void> {
  await collectionOf(DepartureModel).deleteOne({ _id: id });
}

export const isGone = async (orgId: string, userId: string): Promise<boolean> =>
  (await roleOf(orgId, userId)) === undefined;

/** What became of the keys that somebody made. */
export type KeysLeft = { revoked: Key[]; kept: Key[] };

/**
 * Ends what somebody who is no longer a member could come back by or go on with: invitations for them and in their name, and the
 * keys that they made, unless an owner takes these over. Safe to repeat.
 */
export async function endGrants(
  orgId: string,
  userId: string,
  keepKeysFor: string | undefined,
  now: Date,
): Promise<KeysLeft> {
  if (!(await isGone(orgId, userId))) return { revoked: [], kept: [] };
  await endInvitationsOf(orgId, { userId, email: (await findUser(userId))?.email });
  return keepKeysFor === undefined
    ? { revoked: await revokeKeysOf(orgId, userId, now), kept: [] }
    : { revoked: [], kept: await takeOverKeysOf(orgId, userId, keepKeysFor, now) };
}
