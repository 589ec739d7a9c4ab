/** Reviews of tasks: the findings are returned, and the review's status is stored with the task. */
import { executableOf } from './execution.ts';
import { byMember, foundTask } from './task.ts';
import type { Context } from '../context.ts';
import { changeTask } from '../../models/tasks/task.ts';
import { sought } from '../../models/rules/base/errors.ts';
import { executabilityOf } from '../../models/rules/tasks/review.ts';
import { sameWords } from '../../models/rules/tasks/task.ts';

/** @throws Problem NOT_FOUND */
export async function review(ctx: Context, orgId: string, taskId: string, userId: string) {
  const task = await foundTask(orgId, taskId);
  const now = ctx.clock();
  const today = now.toISOString().slice(0, 10);
  const [executable, { missing, vague, suggestion, generated_by }] = await Promise.all([
    executableOf(task),
    ctx.intelligence.reviewTask({ task, today }, { about: { task_id: taskId } }),
  ]);
  const review_status = missing.length + vague.length === 0 ? ('ready' as const) : ('needs_changes' as const);
  // If the task's text was changed meanwhile, the review no longer applies, so its status is not stored.
  const changing = changeTask(orgId, taskId, byMember(userId, now), (standing) =>
    sameWords(standing, task) ? { review_status } : undefined,
  );
  const changed = await sought(changing, 'task');
  const { possible, reasons, steps } = executabilityOf(changed.task, executable);
  return {
    task_id: taskId,
    review_status: changed.task.review_status,
    missing,
    vague,
    suggestion,
    executable: possible,
    blockers: reasons,
    steps,
    generated_by,
  };
}
