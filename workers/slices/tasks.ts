import { launchable, type Slice } from './slice.ts';
import { createCopyActivities } from '../../activities/base/copies.ts';
import { createDepartureActivities } from '../../activities/access/departure.ts';
import { createAnnounceActivities } from '../../activities/tasks/announce.ts';
import { createCascadeActivities } from '../../activities/tasks/cascade.ts';
import { createExecutionActivities } from '../../activities/tasks/execution.ts';
import { createIssueActivities } from '../../activities/tasks/issues.ts';
import { DepartureModel } from '../../models/access/departure.ts';
import { TaskModel } from '../../models/tasks/task.ts';

export const tasks = {
  launchable: [launchable(TaskModel), launchable(DepartureModel)],
  fleets: {
    tasks: {
      activities: (deps) => ({
        ...createExecutionActivities(deps),
        ...createIssueActivities(deps),
        ...createDepartureActivities(deps),
        ...createCascadeActivities(deps),
        ...createAnnounceActivities(deps),
        ...createCopyActivities(),
      }),
      // Each activity waits for another service, up to 15 s if that service does not answer.
      maxActivities: 40,
      maxWorkflowTasks: 20,
    },
  },
} as const satisfies Slice;
