/** Executions as members begin and see them. */
import { byMember, carriedOut, noTask } from './task.ts';
import type { Starter } from '../durable.ts';
import { findUser } from '../../models/access/user.ts';
import { listIntegrations } from '../../models/events/integration.ts';
import { beginExecution } from '../../models/tasks/execution.ts';
import { findTask, type Task } from '../../models/tasks/task.ts';
import { stepIntegrations, type Executable } from '../../models/rules/tasks/execution.ts';

/** What decides over the steps of a task as it stands. */
export async function executableOf(task: Task): Promise<Executable> {
  const [integrations, assignee] = await Promise.all([
    listIntegrations(task.org_id),
    task.assignee_email === undefined && task.assigned_to !== undefined ? findUser(task.assigned_to) : null,
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

/** @throws Problem NOT_FOUND; CONFLICT while it is executed. */
export async function execute(ctx: Starter, orgId: string, taskId: string, userId: string): Promise<Task> {
  const standing = await findTask(orgId, taskId);
  if (!standing) throw noTask();
  const executable = await executableOf(standing);
  return carriedOut(ctx, await beginExecution(orgId, taskId, executable, byMember(userId, ctx.clock())));
}

export const viewResult = ({ _id, execution_status, steps = [], executed_at }: Task) => ({
  task_id: _id,
  execution_status,
  steps: steps.map(({ integration, status, attempts, url, error, delivered_at }) => ({
    integration,
    status,
    attempts,
    ...(url === undefined ? {} : { url }),
    ...(error === undefined ? {} : { error }),
    ...(delivered_at === undefined ? {} : { delivered_at: delivered_at.toISOString() }),
  })),
  executed_at: executed_at?.toISOString() ?? null,
});
