/** What is started when a member leaves an organization. Pure. */
import { workOf } from '../base/work.ts';
import { defined } from '../base/defined.ts';

/** Takes from a member what they were granted, and their tasks. `keepKeysFor`: the owner who takes over their keys. */
export const memberDepartedWork = (
  orgId: string,
  departureId: string,
  { userId, keepKeysFor }: { userId: string; keepKeysFor: string | undefined },
) =>
  workOf({
    workflow: 'memberDeparted',
    id: `departure:${departureId}`,
    queue: 'tasks',
    args: [{ orgId, userId, ...defined({ keepKeysFor }) }],
  });
