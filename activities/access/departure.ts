/** What becomes of the grants of a member who left. Every step may run again. */
import { endGrants } from '../../models/access/departure.ts';

/** `keepKeysFor`: the owner who takes over the keys that the member made. */
export type DepartureRef = { orgId: string; userId: string; keepKeysFor?: string };

/** `giveUpTasks` is what a slice after this one does: see activities/tasks/unassigning.ts. */
export type DepartureActivities = ReturnType<typeof createDepartureActivities> & {
  /** Their open tasks are nobody's. */
  giveUpTasks(ref: DepartureRef): Promise<void>;
};

export function createDepartureActivities({ clock }: { clock: () => Date }) {
  return {
    /** The route did this already, unless its process died. */
    async endGrants({ orgId, userId, keepKeysFor }: DepartureRef): Promise<void> {
      await endGrants(orgId, userId, keepKeysFor, clock());
    },
  };
}
