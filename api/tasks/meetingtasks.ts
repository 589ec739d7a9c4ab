/** Removes the tasks of a meeting when its owner deletes the meeting. */
import type { Context } from '../context.ts';
import { startSaved } from '../../workflows/start.ts';
import { removeTasksOf } from '../../models/tasks/extracted.ts';
import { TaskModel } from '../../models/tasks/task.ts';

export async function removeMeetingTasks(ctx: Context, meetingId: string, userId: string): Promise<void> {
  await removeTasksOf(meetingId, { source: 'member', actor: userId, now: ctx.clock() }, (removed) =>
    startSaved(ctx, TaskModel, removed.task, removed.intents),
  );
}
