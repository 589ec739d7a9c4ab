/** Tasks. */
import { launchable, type Slice } from './slice.ts';
import { TaskModel } from '../../models/tasks/task.ts';

export const tasks = {
  launchable: [launchable(TaskModel)],
  fleets: {},
} as const satisfies Slice;
