/** Ends the grants (API keys and invitations) of a member who left. Every step is idempotent. */
import { endGrants } from '../../models/access/departure.ts';

/**
 * `keepKeysFor`: the owner who takes over the keys that the member made. `leftAt`: the time of the removal in ISO 8601.
 */
export type DepartureRef = { orgId: string; userId: string; keepKeysFor?: string; leftAt: string };

export type DepartureActivities = ReturnType<typeof createDepartureActivities> & {
  /** Unassigns the open tasks of the member; implemented in activities/tasks/cascade.ts. */
  giveUpTasks(ref: DepartureRef): Promise<void>;
};

export function createDepartureActivities({ clock }: { clock: () => Date }) {
  return {
    /** Ends the member's grants, in case the API request that removed the member died before it ended them. */
    async endGrants({ orgId, userId, keepKeysFor, leftAt }: DepartureRef): Promise<void> {
      await endGrants(orgId, { userId, keepKeysFor, leftAt: new Date(leftAt) }, clock());
    },
  };
}
