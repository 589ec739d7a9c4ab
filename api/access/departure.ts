/**
 * Removes members from an organization. Their invitations end, the API keys that they made end or are taken over, and
 * their tasks are unassigned.
 */
import { startSaved } from '../../workflows/start.ts';
import type { MemberPrincipal } from './auth.ts';
import type { Context } from '../context.ts';
import { intentFor } from '../../models/base/pending.ts';
import { removeMember } from '../../models/access/organization.ts';
import {
  createDeparture,
  DepartureModel,
  departureOf,
  endGrants,
  forgetDeparture,
  type KeysLeft,
} from '../../models/access/departure.ts';
import { Problem } from '../../models/rules/base/errors.ts';
import { memberDepartedWork } from '../../models/rules/access/work.ts';

/**
 * Removes one member. The departure is stored before the member is removed, so the sweeper (workers/sweeper.ts)
 * completes it if this process dies in between. `keepKeysFor`: the owner who takes over the keys that the member made.
 * @throws Problem as `removeMember` does.
 */
export async function takeOut(
  ctx: Context,
  { orgId, org, userId: actor }: MemberPrincipal,
  userId: string,
  keepKeysFor: string | undefined,
): Promise<KeysLeft> {
  const mode = org.environment === 'production' ? 'live' : 'test';
  const now = ctx.clock();
  const departure = departureOf(orgId, { userId, keepKeysFor }, mode, now);
  const leaving = { userId, keepKeysFor, leftAt: now };
  const intent = intentFor(memberDepartedWork(orgId, departure._id, leaving), now);
  await createDeparture({ ...departure, pending: [intent] });
  try {
    await removeMember(orgId, actor, userId);
  } catch (error) {
    // A Problem means that nothing was removed. After any other error the member may be removed, so the departure
    // stays.
    if (error instanceof Problem) await forgetDeparture(departure._id);
    throw error;
  }
  const left = await endGrants(orgId, leaving, ctx.clock());
  await startSaved(ctx, DepartureModel, departure, [intent]);
  return left;
}
