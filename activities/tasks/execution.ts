/**
 * The steps of executions: each activity makes one attempt at one step. What comes next is in MongoDB, so each may run again at
 * any point. Workflows and their histories see names of integrations, waits and numbers: what a service said may hold addresses
 * of people, and stands in the task's result.
 */
import { withHeartbeat } from '../base/heartbeat.ts';
import { toldOf } from './told.ts';
import { email } from '../../providers/mail/step.ts';
import { github } from '../../providers/github/step.ts';
import { linear } from '../../providers/linear/step.ts';
import { slack } from '../../providers/slack/step.ts';
import { StepRefused, StepSkipped, type StepCall, type StepDeps, type StepRunner } from '../../providers/base/step.ts';
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
import { maskHeaders } from '../../models/rules/events/delivery.ts';
import { maxTries, stepWaitMs, unsettledMs, type StepIntegration } from '../../models/rules/tasks/execution.ts';
import type { Starter } from '../../providers/base/handled.ts';

export type ExecutionDeps = StepDeps & Starter & { random?: () => number };
export type ExecutionRef = { orgId: string; taskId: string; executionId: string };
/** `waiting`: another attempt follows after `waitMs`. `attempt` is for people. */
export type StepLeft =
  { kind: 'done'; failed?: true } | { kind: 'waiting'; waitMs: number; attempt: number; attempts: number };
export type ExecutionActivities = ReturnType<typeof createExecutionActivities>;

const runners: Readonly<Record<StepIntegration, StepRunner>> = { linear, github, slack, email };
/** The type of what an execution sends, among deliveries. */
const executionEventType = 'task.executed';

/** Failures of the database are not the service's: the activity fails, and is repeated. */
const isOutage = (error: unknown): boolean => error instanceof Error && error.name.startsWith('Mongo');

export function createExecutionActivities(deps: ExecutionDeps) {
  const { clock, log, random = Math.random, start } = deps;

  async function callOf(ref: StepRef, task: Task, again: boolean, signal: AbortSignal): Promise<StepCall | undefined> {
    const [org, { told, email: address }] = await Promise.all([findOrganization(ref.orgId), toldOf(task)]);
    if (!org) return undefined;
    const { mode } = effectiveMode('legacy', org.environment);
    const step = stepOf(task, ref.integration)!;
    return { ref, task, step, told, email: address, organization: org.name, mode, again, deps, signal };
  }

  /** What an attempt brought. @throws what is an outage of ours. */
  async function attempt(call: StepCall): Promise<StepEnd | StepRefused> {
    const runner = runners[call.ref.integration];
    try {
      if (call.mode === 'test' || (await runner.unsendable?.(call))) return await suppress(call, runner);
      return { status: 'succeeded', ...(await runner.send(call)) };
    } catch (error) {
      call.signal.throwIfAborted();
      if (isOutage(error)) throw error;
      if (error instanceof StepSkipped) return { status: 'skipped', error: error.message };
      if (error instanceof StepRefused) return error;
      const { orgId: org_id, taskId: task_id, integration } = call.ref;
      log.error({ err: error, org_id, task_id, integration }, 'a step could not be taken because of a fault here');
      return new StepRefused('Sending failed on our side.', { unanswered: true });
    }
  }

  /** Stores what would leave. */
  async function suppress(call: StepCall, runner: StepRunner): Promise<StepEnd> {
    const { destination, request } = await runner.preview(call);
    const { orgId: org_id, taskId: task_id, executionId: event_id, integration } = call.ref;
    const masked = { ...request, headers: maskHeaders(request.headers) };
    await storeSuppressed(
      {
        org_id,
        mode: call.mode,
        kind: integration,
        event_id,
        event_type: executionEventType,
        lane: `task:${integration}`,
        destination,
        subject: { task_id },
        about: [task_id],
        payload: {},
      },
      masked,
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
      // The attempt of a worker that died may still arrive.
      const waitMs = step.trying_at.getTime() + unsettledMs - clock().getTime();
      if (waitMs > 0) return { kind: 'waiting', waitMs, attempt: step.tries, attempts };
    }
    const began = clock();
    const task = await claimStep(ref, step, began);
    // Somebody else was faster; what comes of it is seen the next time.
    if (!task) return { kind: 'waiting', waitMs: 1_000, attempt: step.tries, attempts };
    const call = await callOf(ref, task, step.attempts > 0, signal);
    if (!call) return { kind: 'done' };
    const end = await attempt(call);
    const { tries } = call.step;
    if (!(end instanceof StepRefused)) {
      await settleStep(ref, began, end, clock());
      return { kind: 'done' };
    }
    const { message: error, permanent, retryAfterMs, unanswered } = end;
    const waitMs = permanent
      ? undefined
      : stepWaitMs(integration, tries, { retryAfterMs, unanswered, random: random() });
    log.info({ org_id: orgId, task_id: taskId, integration, tries, reason: error }, 'a step of a task failed');
    await settleStep(ref, began, waitMs === undefined ? { status: 'failed', error } : { again: true, error }, clock());
    if (waitMs === undefined) return { kind: 'done', failed: true };
    return { kind: 'waiting', waitMs, attempt: tries, attempts };
  }

  return {
    /** The steps of an execution that are to be taken; none when it is over, or the task gone. */
    async listSteps({ orgId, taskId, executionId }: ExecutionRef): Promise<StepIntegration[]> {
      const task = await findTask(orgId, taskId);
      if (task?.execution_id !== executionId) return [];
      return (task.steps ?? []).filter(({ status }) => status === 'running').map(({ integration }) => integration);
    },

    /** Makes the next attempt at a step. */
    advanceStep: (ref: StepRef) => withHeartbeat((signal) => advance(ref, signal)),

    /** Ends the execution once all of its steps are settled. */
    async endExecution(ref: ExecutionRef): Promise<void> {
      const ended = await endExecution(ref, clock());
      if (ended) await start(TaskModel, ended.task, ended.intents);
    },
  };
}
