/**
 * Executions of tasks: each one sends a task to other services, with one step per service. Executions are stored in the
 * tasks' records. `changeTask` stores their beginning and end. The functions here claim steps and store their results
 * by compare-and-set, so that an attempt that crashed at any point can be repeated.
 */
import type { Intent } from '../base/pending.ts';
import { collectionOf } from '../base/define.ts';
import { newId } from '../base/ids.ts';
import { Problem } from '../rules/base/errors.ts';
import {
  executionOutcome,
  planSteps,
  type Executable,
  type Step,
  type StepIntegration,
} from '../rules/tasks/execution.ts';
import { changeTask, TaskModel, type Cause, type Changed, type ExternalLink, type Task } from './task.ts';
import { defined } from '../rules/base/defined.ts';

/**
 * Begins an execution and stores the intent to start its workflow. `broken`: the id of an execution whose workflow no
 * longer exists; this execution does not count as running. Null when there is no such task.
 * @throws Problem CONFLICT while another execution is running, and for a cancelled task.
 */
export async function beginExecution(
  orgId: string,
  taskId: string,
  executable: Executable,
  cause: Cause,
  broken?: string,
): Promise<Changed | null> {
  const execution_id = newId('execution');
  return changeTask(orgId, taskId, cause, (task) => {
    if (task.execution_status === 'running' && task.execution_id !== broken)
      throw new Problem('CONFLICT', { message: 'The task is being executed; see its result.' });
    if (task.status === 'cancelled') throw new Problem('CONFLICT', { message: 'The task is cancelled.' });
    const steps = planSteps(task.steps ?? [], executable);
    const execution_status = executionOutcome(steps);
    return {
      steps,
      execution_id,
      execution_status,
      ...(execution_status === 'running' ? {} : { executed_at: cause.now }),
    };
  });
}

export type StepRef = { orgId: string; taskId: string; executionId: string; integration: StepIntegration };

export const stepOf = (task: Task, integration: StepIntegration): Step | undefined =>
  task.steps?.find((step) => step.integration === integration);

const standing = ({ orgId, taskId, executionId }: Omit<StepRef, 'integration'>) => ({
  _id: taskId,
  org_id: orgId,
  status: { $exists: true },
  execution_id: executionId,
});

/**
 * Claims the next attempt of a step. Null when another attempt has begun since `step` was read, the step has ended, or
 * the task is removed.
 */
export async function claimStep(ref: StepRef, step: Step, now: Date): Promise<Task | null> {
  const { integration, trying_at: before } = step;
  return collectionOf(TaskModel).findOneAndUpdate(
    {
      ...standing(ref),
      steps: { $elemMatch: { integration, status: 'running', trying_at: before ?? { $exists: false } } },
    },
    {
      $set: { 'steps.$.trying_at': now, 'steps.$.first_at': step.first_at ?? now },
      $inc: { 'steps.$.attempts': 1, 'steps.$.tries': 1, rev: 1 },
    },
    { returnDocument: 'after' },
  );
}

/**
 * Stores where the step sends, such as a Slack channel, before the first attempt sends anything. A retry then sends to
 * the same place. `of`: a digest of the data by which the destination was chosen. When the digest has changed, a retry
 * chooses the destination again.
 */
export async function noteTarget({ orgId, taskId, integration }: StepRef, target: string, of: string): Promise<void> {
  await collectionOf(TaskModel).updateOne(
    { _id: taskId, org_id: orgId, 'steps.integration': integration },
    { $set: { 'steps.$.target': target, 'steps.$.target_of': of }, $inc: { rev: 1 } },
  );
}

/** The result of an attempt. `again`: a retry follows. */
export type StepEnd =
  | { status: 'succeeded'; url?: string; link?: ExternalLink }
  | { status: 'failed' | 'skipped'; error: string }
  | { status: 'suppressed' }
  | { again: true; error: string };

/**
 * Stores the result of the attempt that began at `began`. A success is always stored, even when another attempt has
 * taken over or the execution has ended, because the object now exists in the service. Any other result is stored only
 * while no other attempt has taken over.
 */
export async function settleStep(ref: StepRef, began: Date, end: StepEnd, now: Date): Promise<void> {
  const { orgId, taskId, integration } = ref;
  const tasks = collectionOf(TaskModel);
  if ('status' in end && end.status === 'succeeded') {
    const { url, link } = end;
    await tasks.updateOne(
      { _id: taskId, org_id: orgId, steps: { $elemMatch: { integration, status: { $ne: 'succeeded' } } } },
      {
        $set: {
          'steps.$.status': 'succeeded',
          'steps.$.delivered_at': now,
          ...defined({ 'steps.$.url': url }),
        },
        $unset: { 'steps.$.error': '', 'steps.$.trying_at': '' },
        $inc: { rev: 1 },
        ...(link ? { $push: { external_links: link } } : {}),
      },
    );
    return;
  }
  const error = 'error' in end ? { 'steps.$.error': end.error } : {};
  await tasks.updateOne(
    {
      _id: taskId,
      org_id: orgId,
      execution_id: ref.executionId,
      steps: { $elemMatch: { integration, status: 'running', trying_at: began } },
    },
    {
      $set: { ...('status' in end ? { 'steps.$.status': end.status } : {}), ...error },
      $unset: { 'steps.$.trying_at': '', ...('error' in end ? {} : { 'steps.$.error': '' }) },
      $inc: { rev: 1 },
    },
  );
}

/**
 * Ends an execution whose steps have all ended. Stores the intents of follow-up work in the task and returns them, so
 * that the caller can start their workflows at once.
 */
export async function endExecution(
  { orgId, taskId, executionId }: Omit<StepRef, 'integration'>,
  now: Date,
): Promise<{ task: Task; intents: Intent[] } | null> {
  return changeTask(orgId, taskId, { source: 'execution', now }, (task) => {
    const status = executionOutcome(task.steps ?? []);
    if (task.execution_id !== executionId || task.execution_status !== 'running' || status === 'running')
      return undefined;
    return { execution_status: status, executed_at: now };
  });
}
