/**
 * Starts workflows and sends updates to them; no other file does. The principle is to save first and then start: a
 * record and its intent to start a workflow are stored in one write. The start that follows is best effort and limited
 * to one second. The sweeper retries a failed start under the same workflow id.
 */
import {
  isGrpcServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  type Client,
  type ConnectionOptions,
} from '@temporalio/client';
import type { UpdateDefinition } from '@temporalio/common';
import proto from '@temporalio/proto';
import type { Logger } from 'pino';
import type { Model } from '../models/base/define.ts';
import { intentFor, settleIntent, type Intent, type Launchable } from '../models/base/pending.ts';
import { currentTrace } from '../models/base/trace.ts';
import { Problem } from '../models/rules/base/errors.ts';
import { traceHeader } from '../models/rules/base/trace.ts';
import { introduced } from './base/introduced.ts';
import type { Work } from '../models/rules/base/work.ts';
import { readRefusal, type Transition } from './base/refusal.ts';
import type * as workflows from './index.ts';
import { defined } from '../models/rules/base/defined.ts';

const { UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_ACCEPTED: accepted } =
  proto.temporal.api.enums.v1.UpdateWorkflowExecutionLifecycleStage;

const startDeadlineMs = 1_000;
/**
 * How long a caller waits for a worker to answer an update, in ms. A worker usually answers within 50 ms. A busy
 * worker, or one that is being replaced, answers within seconds.
 */
const commandDeadlineMs = 5_000;

/**
 * Connection settings of the API and the workers for Temporal. gRPC's default backoff between connection attempts grows
 * to 2 minutes, which would prolong an outage. Here it is limited to 2 s.
 */
export const connectionTo = (
  address: string,
  { temporalAccess }: { temporalAccess: Pick<ConnectionOptions, 'tls' | 'apiKey'> },
): ConnectionOptions => ({
  address,
  ...temporalAccess,
  channelArgs: {
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 2_000,
    // A silent connection is closed after 17 s. Temporal rejects pings that are more frequent than every 10 s.
    'grpc.keepalive_time_ms': 12_000,
    'grpc.keepalive_timeout_ms': 5_000,
  },
});

export type Starter = {
  temporal: Client;
  /**
   * A client on the same connection as this process's workers. Starts through this client are eager. When a local
   * worker has capacity, Temporal returns the workflow's first task with the answer to the start. This saves a round
   * trip.
   */
  near?: Client;
  clock: () => Date;
  log: Logger;
  config: { taskQueuePrefix: string };
};

/**
 * Saves a record together with one intent per workflow, then starts the workflows. `save` stores the record with the
 * intents in its field `pending`, in one write, and returns null when there is nothing to start. A failed start does
 * not affect the other starts. The sweeper retries it, and the caller gets no error.
 */
export async function launch<
  T extends Launchable,
  S extends Launchable | null,
  const Works extends readonly [Work, ...Work[]],
>(
  ctx: Starter,
  model: Model<T>,
  works: Works,
  save: (intents: { -readonly [I in keyof Works]: Intent }) => Promise<S>,
): Promise<S> {
  const now = ctx.clock();
  const intents = works.map((work) => intentFor(work, now)) as { -readonly [I in keyof Works]: Intent };
  const record = await save(intents);
  if (record) await startSaved(ctx, model, record, intents);
  return record;
}

/**
 * Starts the workflows of saved intents in parallel. A failed start is retried by the sweeper, and the caller gets no
 * error.
 */
export async function startSaved<T extends Launchable>(
  ctx: Starter,
  model: Model<T>,
  record: Launchable,
  intents: readonly Intent[],
): Promise<void> {
  const start = (intent: Intent) =>
    startIntent(ctx, model, record, intent).catch((error: unknown) =>
      ctx.log.warn({ err: error, workflow_id: intent.workflow_id }, 'workflow not started; the sweeper will'),
    );
  await Promise.all(intents.map(start));
}

/**
 * Starts the workflow of an intent, then removes the intent from the record. A workflow that is already running counts
 * as started, and so does one that has ended. An intent with a signal signals a running workflow, and starts an ended
 * one again.
 */
export async function startIntent<T extends Launchable>(
  ctx: Starter,
  model: Model<T>,
  record: Launchable,
  intent: Intent,
  deadlineMs = startDeadlineMs,
): Promise<void> {
  await startUnsettled(ctx, record, intent, deadlineMs);
  await settleIntent(model, record, intent);
}

/**
 * Starts the workflow of an intent like `startIntent`, but keeps the intent, so that callers can remove many intents at
 * once. `again`: whether to start the workflow even when an earlier workflow with the same id has ended.
 */
export async function startUnsettled(
  ctx: Pick<Starter, 'temporal' | 'near' | 'config'>,
  record: Pick<Launchable, 'org_id' | 'mode'>,
  intent: Intent,
  deadlineMs = startDeadlineMs,
  { again = false } = {},
): Promise<void> {
  const options = {
    workflowId: intent.workflow_id,
    taskQueue: `${ctx.config.taskQueuePrefix}${intent.queue}`,
    args: intent.args,
    ...introduced(intent.workflow, intent.workflow_id, record.org_id, record.mode),
    // Temporal dispatches tasks fairly between organizations: a thousand files of one must not delay a single file of
    // another.
    priority: { fairnessKey: record.org_id },
    ...defined({ workflowTaskTimeout: intent.task_timeout_ms }),
    ...memoOf(intent.trace),
  };
  const { signal } = intent;
  const temporal = ctx.near ?? ctx.temporal;
  try {
    await temporal.withDeadline<unknown>(Date.now() + deadlineMs, async () =>
      signal === undefined
        ? temporal.workflow.start(intent.workflow, {
            ...options,
            ...(ctx.near ? { requestEagerStart: true } : {}),
            workflowIdConflictPolicy: 'USE_EXISTING',
            workflowIdReusePolicy: again ? 'ALLOW_DUPLICATE' : 'REJECT_DUPLICATE',
          })
        : temporal.workflow.signalWithStart(intent.workflow, { ...options, signal }),
    );
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

const memoOf = (trace: string | undefined) => (trace === undefined ? {} : { memo: { [traceHeader]: trace } });

/** How long a caller waits for a workflow's result, in ms. */
const askDeadlineMs = 20_000;

type Workflows = typeof workflows;
type Outcome<Name extends keyof Workflows> = Awaited<ReturnType<Workflows[Name]>>;

/**
 * Runs a workflow and returns its result. @throws Problem UNAVAILABLE when the workflow fails or has no result in time.
 */
export async function ask<Name extends keyof Workflows>(
  ctx: Pick<Starter, 'temporal' | 'config'>,
  { workflow, id, queue, args }: Work<Name, Parameters<Workflows[Name]>>,
  orgId: string,
): Promise<Outcome<Name>> {
  const options = {
    workflowId: id,
    taskQueue: `${ctx.config.taskQueuePrefix}${queue}`,
    args,
    ...introduced(workflow, id, orgId),
    priority: { fairnessKey: orgId },
    ...memoOf(currentTrace()),
  };
  try {
    return await ctx.temporal.withDeadline(Date.now() + askDeadlineMs, () =>
      ctx.temporal.workflow.execute<(...args: unknown[]) => Promise<Outcome<Name>>>(workflow, options),
    );
  } catch (cause) {
    throw new Problem('UNAVAILABLE', { cause });
  }
}

/** gRPC status codes for invalid requests to Temporal, which fail in the same way on every retry. */
const refusals: readonly number[] = Object.values({ INVALID_ARGUMENT: 3, OUT_OF_RANGE: 11, UNIMPLEMENTED: 12 });

/** Whether the workflow, the update or the schedule does not exist (gRPC status NOT_FOUND, 5). */
export const isUnknown = (error: unknown): boolean => isGrpcServiceError(error) && [5].includes(error.code);

/** Whether a start failed because Temporal is unreachable, overloaded or being set up, so that a retry can succeed. */
export function isOutage(error: unknown): boolean {
  const cause = error instanceof Error && !isGrpcServiceError(error) ? error.cause : error;
  return isGrpcServiceError(cause) && !refusals.includes(cause.code);
}

/** Whether Temporal answers within one second. */
export async function temporalAnswers({ temporal }: Pick<Starter, 'temporal'>): Promise<boolean> {
  const asked = temporal.withDeadline(Date.now() + startDeadlineMs, () => temporal.workflowService.getSystemInfo({}));
  return asked.then(
    () => true,
    () => false,
  );
}

export type CommandOptions<A extends unknown[]> = {
  /**
   * The idempotency key of the update. A workflow carries out only one update per id, and answers repetitions with the
   * same result. A request that clients may retry derives the key from its `commandIds`, so that a retry after a
   * timeout does not repeat the update.
   */
  id: string;
  args: A;
  /**
   * For an update that takes longer than others: how long the caller waits for the result once a worker has accepted
   * the update, in ms. An accepted update continues after this time.
   */
  deadlineMs?: number;
};

/**
 * Sends an update to an open workflow, whose validator accepts or rejects it. Returns the workflow's answer.
 * @throws Problem ILLEGAL_TRANSITION or CONFLICT, with the workflow's message, when the workflow rejects the update;
 * CONFLICT when the workflow has ended; UNAVAILABLE when it does not answer in time.
 */
export async function command<R, A extends unknown[]>(
  ctx: Pick<Starter, 'temporal'>,
  workflowId: string,
  update: UpdateDefinition<R, A>,
  { id, args, deadlineMs }: CommandOptions<A>,
): Promise<R> {
  const { temporal } = ctx;
  const handle = temporal.workflow.getHandle(workflowId);
  const options = { updateId: id, args: args as never };
  const soon = Date.now() + commandDeadlineMs;
  try {
    if (deadlineMs === undefined)
      return await temporal.withDeadline(soon, () =>
        handle.executeUpdate<R, [unknown, ...unknown[]]>(update.name, options),
      );
    // If no worker accepts the update in time, this call throws, so that the caller does not wait for a result.
    const made = await temporal.withDeadline(soon, () =>
      handle.startUpdate<R, [unknown, ...unknown[]]>(update.name, { ...options, waitForStage: 'ACCEPTED' }),
    );
    return await temporal.withDeadline(Date.now() + deadlineMs, () => made.result());
  } catch (error) {
    if (error instanceof WorkflowUpdateFailedError) throw refused(error);
    throw new Problem(error instanceof WorkflowNotFoundError ? 'CONFLICT' : 'UNAVAILABLE', { cause: error });
  }
}

/**
 * The answer of an earlier update with this id; undefined when the workflow does not know the id. The function also
 * works for ended workflows, and waits for an update in flight.
 * @throws Problem as `command` does.
 */
export async function earlierAnswer<R, A extends unknown[]>(
  ctx: Pick<Starter, 'temporal'>,
  workflowId: string,
  _update: UpdateDefinition<R, A>,
  { id, deadlineMs }: Pick<CommandOptions<A>, 'id' | 'deadlineMs'>,
): Promise<{ answer: R } | undefined> {
  const { temporal } = ctx;
  try {
    if (deadlineMs !== undefined) await untilAccepted(temporal, workflowId, id);
    const made = temporal.workflow.getHandle(workflowId).getUpdateHandle<R>(id);
    const until = Date.now() + (deadlineMs ?? commandDeadlineMs);
    return { answer: await temporal.withDeadline(until, () => made.result()) };
  } catch (error) {
    if (error instanceof WorkflowUpdateFailedError) throw refused(error);
    if (error instanceof WorkflowNotFoundError || isUnknown(error)) return undefined;
    throw new Problem('UNAVAILABLE', { cause: error });
  }
}

/** Waits until a worker has accepted or rejected an update that was sent earlier. @throws when none does so in time. */
async function untilAccepted(temporal: Client, workflowId: string, updateId: string): Promise<void> {
  const { stage } = await temporal.withDeadline(Date.now() + commandDeadlineMs, () =>
    temporal.workflowService.pollWorkflowExecutionUpdate({
      namespace: temporal.options.namespace,
      updateRef: { workflowExecution: { workflowId }, updateId },
      waitPolicy: { lifecycleStage: accepted },
    }),
  );
  if (stage < accepted) throw new Error(`no worker has accepted the update ${updateId} yet`);
}

/** The error for callers when an update failed. Only the message of a workflow's refusal is shown to callers. */
function refused(cause: WorkflowUpdateFailedError): Problem {
  const said = readRefusal(cause.cause);
  if (!said?.transition) return new Problem('CONFLICT', { ...(said && { message: said.message }), cause });
  return illegalTransition(said.message, said.transition, cause);
}

/** The error for an operation that the current state does not allow. */
export function illegalTransition(message: string, { from, operation, allowed }: Transition, cause?: unknown): Problem {
  const possible = allowed.length > 0 ? allowed.join(', ') : 'nothing';
  const details = [
    { path: ['operation'], message: `${operation} is not possible from ${from}; possible: ${possible}` },
  ];
  return new Problem('ILLEGAL_TRANSITION', { message, details, extra: { from, operation, allowed }, cause });
}

/** Whether `command` failed because the workflow does not exist or has ended. */
export const isGone = (error: unknown): boolean =>
  error instanceof Problem && error.cause instanceof WorkflowNotFoundError;
