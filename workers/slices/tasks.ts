/** Tasks. */
import { launchable, type Slice } from './slice.ts';
import { createExecutionActivities } from '../../activities/tasks/execution.ts';
import { createIssueActivities } from '../../activities/tasks/issues.ts';
import { TaskModel } from '../../models/tasks/task.ts';

export const tasks = {
  launchable: [launchable(TaskModel)],
  fleets: {
    tasks: {
      activities: (deps) => ({ ...createExecutionActivities(deps), ...createIssueActivities(deps) }),
      // Each waits for another service, for 15 s if that does not answer.
      maxActivities: 40,
      maxWorkflowTasks: 20,
    },
  },
} as const satisfies Slice;
