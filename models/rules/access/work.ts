import { workOf } from '../base/work.ts';
import { defined } from '../base/defined.ts';

/**
 * The workflow that revokes a departed member's API keys and invitations, and unassigns the member's open tasks.
 * `keepKeysFor`: the owner who takes over the member's API keys. `leftAt`: the time of the removal; invitations that
 * the person receives later stay.
 */
export const memberDepartedWork = (
  orgId: string,
  departureId: string,
  { userId, keepKeysFor, leftAt }: { userId: string; keepKeysFor: string | undefined; leftAt: Date },
) =>
  workOf('memberDeparted', 'tasks', `departure:${departureId}`, [
    { orgId, userId, ...defined({ keepKeysFor, leftAt: leftAt.toISOString() }) },
  ]);
