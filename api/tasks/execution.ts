/** Starts executions of tasks for members, and shows them. */
import { byMember, carriedOut, foundTask } from './task.ts';
import type { Starter } from '../../workflows/start.ts';
import { listIntegrations } from '../../models/integrations/integration.ts';
import { beginExecution } from '../../models/tasks/execution.ts';
import type { Task } from '../../models/tasks/task.ts';
import { findAssignee } from '../../models/tasks/unassigning.ts';
import { stepIntegrations, type Executable } from '../../models/rules/tasks/execution.ts';
import { taskExecutionWork } from '../../models/rules/tasks/work.ts';

/** The data that decides which steps an execution of the task has. */
export async function executableOf(task: Task): Promise<Executable> {
  const [integrations, assignee] = await Promise.all([
    listIntegrations(task.org_id),
    task.assignee_email === undefined ? findAssignee(task) : null,
  ]);
  const standing = stepIntegrations.flatMap((integration) => {
    const found = integrations.find(({ provider }) => provider === integration);
    return found ? [[integration, found.status] as const] : [];
  });
  return {
    connections: Object.fromEntries(standing),
    email_execution_enabled: task.email_execution_enabled,
    mailable: task.assignee_email !== undefined || assignee !== null,
  };
}

/** @throws Problem NOT_FOUND; CONFLICT while the task is being executed. */
export async function execute(ctx: Starter, orgId: string, taskId: string, userId: string): Promise<Task> {
  const standing = await foundTask(orgId, taskId);
  const [executable, broken] = await Promise.all([executableOf(standing), brokenExecution(ctx, standing)]);
  return carriedOut(ctx, await beginExecution(orgId, taskId, executable, byMember(userId, ctx.clock()), broken));
}

/**
 * The id of the task's execution if it can never end, because its workflow was terminated, cancelled, or failed; else
 * undefined.
 */
async function brokenExecution({ temporal }: Starter, task: Task): Promise<string | undefined> {
  const { _id, org_id, execution_status, execution_id } = task;
  if (execution_status !== 'running' || execution_id === undefined) return undefined;
  const { id } = taskExecutionWork(org_id, _id, execution_id);
  try {
    const { status } = await temporal.workflow.getHandle(id).describe();
    return endedByForce.has(status.name) ? execution_id : undefined;
  } catch {
    // The workflow has not started yet, or Temporal is down, so the execution may still continue.
    return undefined;
  }
}
const endedByForce: ReadonlySet<string> = new Set(['TERMINATED', 'CANCELLED', 'FAILED', 'TIMED_OUT']);

export const viewResult = (task: Task) => ({ ...task, task_id: task._id, steps: task.steps ?? [] });
