/**
 * Save, then start: the only lines that start a workflow or change an open one. The record and its intent are one
 * write. The start that follows is best effort and takes under a second, because the sweeper repeats a start that
 * failed under the same workflow id.
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
import type { Model } from 'mongoose';
import type { Logger } from 'pino';
import { intentFor, settleIntent, type Intent, type Launchable } from '../models/base/pending.ts';
import { Problem } from '../models/rules/base/errors.ts';
import { searchAttributes } from './attributes.ts';
import type { Work } from '../models/rules/base/work.ts';
import { readRefusal, type Transition } from './base/refusal.ts';
import type * as workflows from './index.ts';
import { defined } from '../models/rules/base/defined.ts';

const startDeadlineMs = 1_000;
/** A worker answers in some 50 ms; one that is busy or being replaced answers within seconds. */
const commandDeadlineMs = 5_000;

/**
 * How the API and the workers connect to Temporal. gRPC's own pause between two attempts to connect grows to 2 minutes,
 * so that after an outage of minutes everything would wait as long again. This pause is bounded instead.
 */
export const connectionTo = (address: string): ConnectionOptions => ({
  address,
  channelArgs: {
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 2_000,
    // A connection that went silent is given up after 17 s. Temporal refuses pings that come more often than every 10 s.
    'grpc.keepalive_time_ms': 12_000,
    'grpc.keepalive_timeout_ms': 5_000,
  },
});

export type Starter = {
  temporal: Client;
  /**
   * A client on the connection of this process's own workers. With it the answer to a start holds the workflow's first task,
   * where one of them has room for it, which saves Temporal handing that out.
   */
  near?: Client;
  clock: () => Date;
  log: Logger;
  config: { taskQueuePrefix: string };
};

/**
 * Saves a record together with the intents to start workflows for it, one intent per workflow, then starts them. `save`
 * stores the intents in `pending` in the same write, and returns nothing when there turned out to be nothing to start.
 * Each start is independent: one that fails is left to the sweeper, and the caller is not told.
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

/** Starts what was saved, all at once. A start that fails is left to the sweeper, and the caller is not told. */
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
 * Starts an intent under its own id and settles it. A workflow that has already started, or has already ended, counts
 * as success.
 */
export async function startIntent<T extends Launchable>(
  ctx: Starter,
  model: Model<T>,
  record: Launchable,
  intent: Intent,
  deadlineMs = startDeadlineMs,
): Promise<void> {
  await startUnsettled(ctx, record, intent, deadlineMs);
  await settleIntent(model, record._id, intent);
}

/** Starts an intent as `startIntent` does; its caller settles it, of many records at once. */
export async function startUnsettled(
  ctx: Starter,
  record: Launchable,
  intent: Intent,
  deadlineMs = startDeadlineMs,
): Promise<void> {
  const options = {
    workflowId: intent.workflow_id,
    taskQueue: `${ctx.config.taskQueuePrefix}${intent.queue}`,
    args: intent.args,
    typedSearchAttributes: [
      { key: searchAttributes.organization, value: record.org_id },
      { key: searchAttributes.mode, value: record.mode },
    ],
    // A thousand files of one organization must not delay the single file of another.
    priority: { fairnessKey: record.org_id },
    ...defined({ workflowTaskTimeout: intent.task_timeout_ms }),
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
            workflowIdReusePolicy: 'REJECT_DUPLICATE',
          })
        : temporal.workflow.signalWithStart(intent.workflow, { ...options, signal }),
    );
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

/** How long a caller waits for what a workflow finds out, in ms. */
const askDeadlineMs = 20_000;

type Workflows = typeof workflows;
type Outcome<Name extends keyof Workflows> = Awaited<ReturnType<Workflows[Name]>>;

/** Runs a workflow for the caller who waits for its outcome. @throws Problem UNAVAILABLE when there is none in time. */
export async function ask<Name extends keyof Workflows>(
  ctx: Pick<Starter, 'temporal' | 'config'>,
  { workflow, id, queue, args }: Work<Name, Parameters<Workflows[Name]>>,
  orgId: string,
): Promise<Outcome<Name>> {
  const options = {
    workflowId: id,
    taskQueue: `${ctx.config.taskQueuePrefix}${queue}`,
    args,
    typedSearchAttributes: [{ key: searchAttributes.organization, value: orgId }],
    priority: { fairnessKey: orgId },
  };
  try {
    return await ctx.temporal.withDeadline(Date.now() + askDeadlineMs, () =>
      ctx.temporal.workflow.execute<(...args: unknown[]) => Promise<Outcome<Name>>>(workflow, options),
    );
  } catch (cause) {
    throw new Problem('UNAVAILABLE', { cause });
  }
}

/** gRPC status codes by which Temporal says that the request itself is wrong: repeating it never succeeds. */
const refusals: readonly number[] = Object.values({ INVALID_ARGUMENT: 3, OUT_OF_RANGE: 11, UNIMPLEMENTED: 12 });

/** Whether a start failed because Temporal is away, busy or being set up, so that the same start succeeds later. */
export function isOutage(error: unknown): boolean {
  const cause = error instanceof Error && !isGrpcServiceError(error) ? error.cause : error;
  return isGrpcServiceError(cause) && !refusals.includes(cause.code);
}

/** Whether Temporal answers within a second. */
export async function temporalAnswers({ temporal }: Pick<Starter, 'temporal'>): Promise<boolean> {
  const asked = temporal.withDeadline(Date.now() + startDeadlineMs, () => temporal.workflowService.getSystemInfo({}));
  return asked.then(
    () => true,
    () => false,
  );
}

export type CommandOptions<A extends unknown[]> = {
  /**
   * The same for calls that are to make one change: a workflow carries out one update of an id, and answers each call with what
   * came of it. For what a caller may repeat it is made of the request's `commandId`, because a call that was not answered in time
   * may have been carried out, or be carried out later.
   */
  id: string;
  args: A;
  /** How long the caller waits, in ms. What was accepted goes on after it. */
  deadlineMs?: number;
};

/**
 * Changes the state of an open workflow, which owns that state: the workflow's own validator decides. Returns what the
 * workflow answers.
 * @throws Problem ILLEGAL_TRANSITION or CONFLICT, in the workflow's own words, when it refuses; CONFLICT when the
 * workflow has ended; UNAVAILABLE when it could not be asked in time.
 */
export async function command<R, A extends unknown[]>(
  ctx: Pick<Starter, 'temporal'>,
  workflowId: string,
  update: UpdateDefinition<R, A>,
  { id, args, deadlineMs = commandDeadlineMs }: CommandOptions<A>,
): Promise<R> {
  try {
    return await ctx.temporal.withDeadline(Date.now() + deadlineMs, () =>
      ctx.temporal.workflow
        .getHandle(workflowId)
        .executeUpdate<R, [unknown, ...unknown[]]>(update.name, { updateId: id, args: args as never }),
    );
  } catch (error) {
    if (error instanceof WorkflowUpdateFailedError) throw refused(error);
    throw new Problem(error instanceof WorkflowNotFoundError ? 'CONFLICT' : 'UNAVAILABLE', { cause: error });
  }
}

/**
 * What an update of this id has answered, also of a workflow that has ended since; undefined when the workflow knows none. One
 * that is being carried out is waited for.
 * @throws Problem as `command` does.
 */
export async function earlierAnswer<R, A extends unknown[]>(
  ctx: Pick<Starter, 'temporal'>,
  workflowId: string,
  _update: UpdateDefinition<R, A>,
  { id, deadlineMs = commandDeadlineMs }: Pick<CommandOptions<A>, 'id' | 'deadlineMs'>,
): Promise<{ answer: R } | undefined> {
  try {
    const made = ctx.temporal.workflow.getHandle(workflowId).getUpdateHandle<R>(id);
    return { answer: await ctx.temporal.withDeadline(Date.now() + deadlineMs, () => made.result()) };
  } catch (error) {
    if (error instanceof WorkflowUpdateFailedError) throw refused(error);
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw new Problem('UNAVAILABLE', { cause: error });
  }
}

/** What a caller is told about an update that failed. Only the message of a refusal is meant for callers. */
function refused(cause: WorkflowUpdateFailedError): Problem {
  const said = readRefusal(cause.cause);
  if (!said?.transition) return new Problem('CONFLICT', { ...(said && { message: said.message }), cause });
  return illegalTransition(said.message, said.transition, cause);
}

/** What a caller is told who asks for what a state does not allow. */
export function illegalTransition(message: string, { from, operation, allowed }: Transition, cause?: unknown): Problem {
  const possible = allowed.length > 0 ? allowed.join(', ') : 'nothing';
  const details = [
    { path: ['operation'], message: `${operation} is not possible from ${from}; possible: ${possible}` },
  ];
  return new Problem('ILLEGAL_TRANSITION', { message, details, extra: { from, operation, allowed }, cause });
}

/** Whether `command` failed because the workflow does not exist or is no longer open. */
export const isGone = (error: unknown): boolean =>
  error instanceof Problem && error.cause instanceof WorkflowNotFoundError;
