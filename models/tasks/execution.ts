/**
 * Executions in the records of tasks. That one begins and ends is a change like any other (`changeTask`); its steps are
 * claimed and settled here, each by one write that compares what it knew, so that attempts may run again at any point.
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
 * Begins an execution, and leaves the intent to start it. `broken` is the one before, where nothing carries it any more. Null
 * when there is no such task.
 * @throws Problem CONFLICT while one runs, and for a task that is cancelled.
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

/** Takes the right to make the next attempt; null when another attempt has begun, or the step is settled, or the task gone. */
export async function claimStep(ref: StepRef, step: Step, now: Date): Promise<Task | null> {
  const { integration, trying_at: before } = step;
  return collectionOf(TaskModel).findOneAndUpdate(
    {
      ...standing(ref),
      steps: { $elemMatch: { integration, status: 'running', trying_at: before ?? { $exists: false } } },
    },
    {
      $set: { 'steps.$.trying_at': now, 'steps.$.first_at': step.first_at ?? now },
      $inc: { 'steps.$.attempts': 1, 'steps.$.tries': 1 },
    },
    { returnDocument: 'after' },
  );
}

/** Notes where the step goes, before anything is sent there. */
export async function noteTarget({ orgId, taskId, integration }: StepRef, target: string): Promise<void> {
  await collectionOf(TaskModel).updateOne(
    { _id: taskId, org_id: orgId, 'steps.integration': integration },
    { $set: { 'steps.$.target': target } },
  );
}

/** How an attempt ended. `again`: another one follows. */
export type StepEnd =
  | { status: 'succeeded'; url?: string; link?: ExternalLink }
  | { status: 'failed' | 'skipped'; error: string }
  | { status: 'suppressed' }
  | { again: true; error: string };

/**
 * Writes down how the attempt ended that began then. One that another attempt has overtaken only counts when it succeeded,
 * which stays true, even when its execution is over.
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
    },
  );
}

/** Ends an execution whose steps are all settled. What is to follow is left in the record, and given to be started at once. */
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
