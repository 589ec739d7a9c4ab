/**
 * The steps of a task's execution in other services. The activity `advanceStep` makes one attempt at one step. All
 * progress is stored in MongoDB, so each activity can be retried at any point. Workflow histories only contain
 * integration names, waits and numbers. The services' messages may contain personal addresses, so they are only stored
 * in the task's result.
 */
import { cancellationSignal } from '@temporalio/activity';
import { toldOf } from './told.ts';
import { email } from '../../providers/mail/step.ts';
import { github } from '../../providers/github/step.ts';
import { linear } from '../../providers/linear/step.ts';
import { slack } from '../../providers/slack/step.ts';
import { attempted, isKeptBack, stored } from '../events/sending.ts';
import type { SenderDeps } from '../../providers/base/sender.ts';
import type { StepCall, StepSender } from '../../providers/base/step.ts';
import { findOrganization } from '../../models/access/organization.ts';
import { storeSuppressed } from '../../models/events/delivery.ts';
import {
  claimStep,
  endExecution,
  settleStep,
  stepOf,
  type StepEnd,
  type StepRef,
} from '../../models/tasks/execution.ts';
import { findTask, TaskModel, type Task } from '../../models/tasks/task.ts';
import { effectiveMode } from '../../models/rules/access/keys.ts';
import { DeliveryRefused, mayHaveArrived, type Sent } from '../../models/rules/events/delivery.ts';
import {
  isFinal,
  maxTries,
  stepWaitMs,
  unsettledMs,
  type StepIntegration,
} from '../../models/rules/tasks/execution.ts';
import type { Starter } from '../../providers/base/handled.ts';
import { defined } from '../../models/rules/base/defined.ts';

export type ExecutionDeps = SenderDeps & Starter & { random?: () => number };
export type ExecutionRef = { orgId: string; taskId: string; executionId: string };
/**
 * `waiting`: a retry follows after `waitMs`. `attempt` (the attempts made) and `attempts` (their maximum) are only
 * displayed.
 */
export type StepLeft =
  { kind: 'done'; failed?: true } | { kind: 'waiting'; waitMs: number; attempt: number; attempts: number };
export type ExecutionActivities = ReturnType<typeof createExecutionActivities>;

const senders: Readonly<Record<StepIntegration, StepSender>> = { linear, github, slack, email };
/** The event type of the suppressed deliveries (stored, but not sent) of executions. */
const executionEventType = 'task.executed';

/** The result of a successful step. An issue with id and URL is linked to the task. */
const succeeded = (provider: StepIntegration, { result: { id, url } = {} }: Sent): StepEnd => ({
  status: 'succeeded',
  ...defined({ url }),
  ...(id === undefined || url === undefined ? {} : { link: { provider, id, url } }),
});

export function createExecutionActivities(deps: ExecutionDeps) {
  const { clock, log, random = Math.random, start } = deps;

  async function callOf(ref: StepRef, task: Task, again: boolean): Promise<StepCall | undefined> {
    const [org, { told, email: address }] = await Promise.all([findOrganization(ref.orgId), toldOf(task)]);
    if (!org) return undefined;
    const { mode } = effectiveMode('legacy', org.environment);
    const step = stepOf(task, ref.integration)!;
    return { ref, task, step, told, email: address, organization: org.name, mode, again };
  }

  /** Makes one attempt; returns its result or the refusal. @throws A database error; the activity is then retried. */
  async function attempt(call: StepCall, signal: AbortSignal): Promise<StepEnd | DeliveryRefused> {
    const { orgId: org_id, taskId: task_id, integration } = call.ref;
    const sender = senders[integration];
    const take = async (): Promise<StepEnd> =>
      (await isKeptBack(sender, call, call.mode, deps))
        ? suppress(call, sender)
        : succeeded(integration, await sender.send(call, deps, signal));
    const end = await attempted(take, { org_id, task_id, integration }, deps, signal);
    return end instanceof DeliveryRefused && end.refusal.nowhere ? { status: 'skipped', error: end.message } : end;
  }

  /** Stores the request that would be sent, as a suppressed delivery. */
  async function suppress(call: StepCall, sender: StepSender): Promise<StepEnd> {
    const request = await sender.preview(call, deps);
    const { orgId: org_id, taskId: task_id, executionId: event_id, integration } = call.ref;
    await storeSuppressed(
      {
        org_id,
        mode: call.mode,
        kind: integration,
        event_id,
        event_type: executionEventType,
        lane: `task:${integration}`,
        destination: await sender.destination(call),
        subject: { task_id },
        about: [task_id],
        payload: {},
      },
      stored(request),
      clock(),
    );
    return { status: 'suppressed' };
  }

  async function advance(ref: StepRef, signal: AbortSignal): Promise<StepLeft> {
    const { orgId, taskId, executionId, integration } = ref;
    const before = await findTask(orgId, taskId);
    const step = before && stepOf(before, integration);
    if (!step || before.execution_id !== executionId || step.status !== 'running') return { kind: 'done' };
    const attempts = maxTries(integration);
    if (step.trying_at) {
      // The service may still process the request of an attempt whose worker died, so the next attempt waits until that
      // request must have ended.
      const waitMs = step.trying_at.getTime() + unsettledMs - clock().getTime();
      if (waitMs > 0) return { kind: 'waiting', waitMs, attempt: step.tries, attempts };
    }
    const began = clock();
    const task = await claimStep(ref, step, began);
    // Another attempt has claimed the step; its result is read in the next round.
    if (!task) return { kind: 'waiting', waitMs: 1_000, attempt: step.tries, attempts };
    const call = await callOf(ref, task, step.attempts > 0);
    if (!call) return { kind: 'done' };
    const end = await attempt(call, signal);
    const { tries } = call.step;
    if (!(end instanceof DeliveryRefused)) {
      await settleStep(ref, began, end, clock());
      return { kind: 'done' };
    }
    const { message: error, refusal } = end;
    const asked = { retryAfterMs: refusal.retryAfterMs, unanswered: mayHaveArrived(refusal), random: random() };
    const waitMs = isFinal(refusal) ? undefined : stepWaitMs(integration, tries, asked);
    log.info({ org_id: orgId, task_id: taskId, integration, tries, reason: error }, 'a step of a task failed');
    await settleStep(ref, began, waitMs === undefined ? { status: 'failed', error } : { again: true, error }, clock());
    if (waitMs === undefined) return { kind: 'done', failed: true };
    return { kind: 'waiting', waitMs, attempt: tries, attempts };
  }

  return {
    /**
     * The steps of an execution that are still to be done; empty when the execution is over or the task was removed.
     */
    async listSteps({ orgId, taskId, executionId }: ExecutionRef): Promise<StepIntegration[]> {
      const task = await findTask(orgId, taskId);
      if (task?.execution_id !== executionId) return [];
      return (task.steps ?? []).filter(({ status }) => status === 'running').map(({ integration }) => integration);
    },

    advanceStep: (ref: StepRef) => advance(ref, cancellationSignal()),

    /** Ends the execution once all of its steps have ended. */
    async endExecution(ref: ExecutionRef): Promise<void> {
      const ended = await endExecution(ref, clock());
      if (ended) await start(TaskModel, ended.task, ended.intents);
    },
  };
}
