/** Functions with which an operator looks at the workflows of a deployment, and retries or cancels one. */
import { randomUUID } from 'node:crypto';
import type { UpdateDefinition } from '@temporalio/common';
import type { Client, WorkflowExecutionDescription, WorkflowExecutionInfo } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/client';
import { decodeOptionalFailureToOptionalError } from '@temporalio/common/lib/internal-non-workflow/index.js';
import type { ProtoFailure } from '@temporalio/common';
import pLimit from 'p-limit';
import type { Deployment } from './deployment.ts';
import { floodFrom, situations, type Situation } from '../../workflows/base/situations.ts';
import { CliError } from '../errors.ts';
import { notWorkingOf, type NotWorking } from './organizations.ts';
import { findOrganization } from '../../models/access/organization.ts';
import { countWaitingIntents } from '../../models/base/pending.ts';
import { hastenDeliveries } from '../../models/events/delivery.ts';
import { tryNowSignal } from '../../models/rules/chat/work.ts';
import { command } from '../../workflows/start.ts';
import { searchAttributes } from '../../workflows/attributes.ts';
import { activities, attemptsElsewhere, kindOf, seeAttempts, summaryOf } from '../../workflows/base/kinds.ts';

/** A workflow as a line of a list. `since`: when it was started, in ISO 8601. */
export type Listed = { id: string; summary: string; status: string; since: string };
/** `says`: what failed last, or else what the workflow waits for. */
export type Explained = Listed & { says: string | null };
/** An activity that is not finished. `failed`: the last failure. `next`: when it is tried again, ISO 8601. */
export type Attempt = { activity: string; attempt: number; failed: string | null; next: string | null };

/** At most this many open workflows are searched for failing activities and counted by organization. */
const lookedAt = 1_000;
/** At most this many workflows of each situation, and of each failure, are listed; all of them are counted. */
const shownOfEach = 5;
/** From this attempt on, an activity has failed at least once. */
const stuckAttempts = 2;

type Summed = Pick<WorkflowExecutionInfo, 'workflowId' | 'type' | 'startTime' | 'status' | 'typedSearchAttributes'>;

const listedOf = ({ workflowId, type, startTime, status, typedSearchAttributes: attributes }: Summed): Listed => ({
  id: workflowId,
  summary: withProviders(
    summaryOf(type, workflowId, attributes.get(searchAttributes.organization)),
    attributes.get(searchAttributes.provider),
  ),
  status: attributes.get(searchAttributes.status) ?? status.name.toLowerCase(),
  since: startTime.toISOString(),
});

const withProviders = (summary: string, providers: readonly string[] = []): string =>
  providers.length === 0 ? summary : `${summary} (${providers.join(', ')})`;

async function list(temporal: Client, query: string, limit: number): Promise<WorkflowExecutionInfo[]> {
  const found: WorkflowExecutionInfo[] = [];
  for await (const info of temporal.workflow.list({ query, pageSize: Math.min(limit, 100) })) {
    found.push(info);
    if (found.length === limit) break;
  }
  return found;
}

type Found = Pick<Situation, 'name' | 'title' | 'means' | 'mend'> & {
  query: string;
  count: number;
  first: Explained[];
};
/** Workflows in which the same activity fails in the same way. */
type Failing = { activity: string; failed: string; count: number; first: Explained[] };
/**
 * `open`: the number of the organization's open workflows. `floods`: whether it exceeds `floodFrom`. `kinds`: the
 * number of open workflows of each kind.
 */
export type Busy = { org_id: string; name: string; open: number; floods: boolean; kinds: Record<string, number> };
export type Stuck = {
  situations: Found[];
  /** The workflows whose activities are retried, grouped by activity and failure. */
  failing: Failing[];
  /** The organizations with the most open workflows. */
  busiest: Busy[];
  /** Saved work whose workflow was not started within a minute. */
  not_started: number;
  /** `failing` and `busiest` are made of only this many workflows, because more are open; null: of all open ones. */
  limited_to: number | null;
};

/** Everything that may wait for a repair by an operator. */
export async function stuck({ temporal }: Deployment, now: Date): Promise<Stuck> {
  const found = await Promise.all(
    situations.map(async ({ query: ask, ...situation }) => {
      const query = ask(now);
      const { count } = await temporal.workflow.count(query);
      const first = (await list(temporal, query, shownOfEach)).map(listedOf);
      return { ...situation, query, count, first: await Promise.all(first.map((one) => explained(temporal, one))) };
    }),
  );
  const open = await list(temporal, '`ExecutionStatus` = "Running"', lookedAt);
  const busiest = await busiestOf(open);
  const atOnce = pLimit(20);
  const looked = await Promise.all(
    open.map((info) =>
      atOnce(async () => ({
        workflow: { ...listedOf(info), status: 'retrying', says: null },
        failure: (await attemptsOf(temporal, info.workflowId)).find(({ attempt }) => attempt >= stuckAttempts),
      })),
    ),
  );
  const failing = Map.groupBy(
    looked.flatMap(({ workflow, failure }) =>
      failure ? [{ workflow, ...failure, failed: failure.failed ?? '' }] : [],
    ),
    ({ activity, failed }) => `${activity}: ${failed}`,
  );
  return {
    situations: found.filter(({ name, count }) => (name === 'flood' ? busiest.some((one) => one.floods) : count > 0)),
    failing: [...failing.values()].map((alike) => ({
      activity: alike[0]!.activity,
      failed: alike[0]!.failed,
      count: alike.length,
      first: alike.slice(0, shownOfEach).map(({ workflow }) => workflow),
    })),
    busiest,
    not_started: await countWaitingIntents(new Date(now.getTime() - 60_000)),
    limited_to: open.length === lookedAt ? lookedAt : null,
  };
}

async function busiestOf(open: readonly WorkflowExecutionInfo[]): Promise<Busy[]> {
  const byOrg = Map.groupBy(open, ({ typedSearchAttributes }) =>
    typedSearchAttributes.get(searchAttributes.organization),
  );
  byOrg.delete(undefined);
  const most = [...byOrg].toSorted(([, a], [, b]) => b.length - a.length).slice(0, 5);
  return Promise.all(
    most.map(async ([orgId, workflows]) => ({
      org_id: orgId!,
      name: (await findOrganization(orgId!))?.name ?? '',
      open: workflows.length,
      floods: workflows.length > floodFrom,
      kinds: Object.fromEntries(
        [...Map.groupBy(workflows, ({ type }) => kindOf(type)?.kind ?? type)].map(([kind, { length }]) => [
          kind,
          length,
        ]),
      ),
    })),
  );
}

/**
 * Adds what failed last or what the workflow waits for. If one of its activities is retried, the status becomes
 * `retrying`, because the workflow itself does not know of the attempts. Otherwise the text comes from the workflow's
 * details.
 */
async function explained(temporal: Client, listed: Listed): Promise<Explained> {
  const failing = (await attemptsOf(temporal, listed.id)).find(({ failed }) => failed !== null);
  if (failing) return { ...listed, status: 'retrying', says: `${failing.activity}: ${failing.failed}` };
  // Running and completed workflows have nothing to explain, and querying hundreds of them takes long.
  if (['running', 'completed'].includes(listed.status)) return { ...listed, says: null };
  const details = (await detailsOf(temporal, listed.id)) ?? '';
  const cell = (name: string): string | undefined => new RegExp(`^\\| ${name} \\| (.*) \\|$`, 'm').exec(details)?.[1];
  const failed = cell('failed last') ?? 'nothing';
  if (failed !== 'nothing' && failed !== attemptsElsewhere) return { ...listed, says: failed };
  const awaited = cell('waits for') ?? 'nothing';
  return { ...listed, says: awaited === 'nothing' ? null : `waits for ${awaited}, until ${cell('until')}` };
}

/** The current details of a workflow; null when no worker runs its code, so that nobody answers the query. */
const detailsOf = (temporal: Client, id: string): Promise<string | null> =>
  temporal
    .withDeadline(Date.now() + 5_000, () =>
      temporal.workflow.getHandle(id).query<{ currentDetails?: string }>('__temporal_workflow_metadata'),
    )
    .then(
      ({ currentDetails }) => currentDetails ?? null,
      () => null,
    );

/** The workflows of an organization: those that are open, and those that failed within a day. */
export async function workOf(
  { temporal }: Deployment,
  orgId: string,
  now: Date,
): Promise<{ open: Explained[]; failed: Explained[] }> {
  const of = `\`Organization\` = "${orgId}"`;
  const yesterday = new Date(now.getTime() - 86_400_000).toISOString();
  const [open, failed] = await Promise.all([
    list(temporal, `${of} AND \`ExecutionStatus\` = "Running"`, 200),
    list(
      temporal,
      `${of} AND (\`Status\` = "failed" OR \`ExecutionStatus\` = "Failed") AND \`StartTime\` > "${yesterday}"`,
      200,
    ),
  ]);
  const atOnce = pLimit(20);
  const all = (found: WorkflowExecutionInfo[]) =>
    Promise.all(found.map((one) => atOnce(() => explained(temporal, listedOf(one)))));
  return { open: await all(open), failed: await all(failed) };
}

export type Shown = Listed & {
  does: string;
  /** The connections that the workflow uses and that do not work at present. */
  not_working: NotWorking[];
  details: string | null;
  attempts: Attempt[];
  events: number;
};

/** One workflow: its details, and the attempts at its activities. @throws CliError NOT_FOUND */
export async function shown({ temporal }: Deployment, id: string): Promise<Shown> {
  const description = await described(temporal, id);
  const details = await detailsOf(temporal, id);
  const attempts = await attemptsOf(temporal, id, description);
  const failing = attempts.find(({ failed }) => failed !== null);
  // In Temporal's UI, the same details refer to this command for the attempts. Here the reference is omitted.
  const here = details?.replace(`${seeAttempts(id)}<br>`, '').replace(seeAttempts(id), '') ?? null;
  const attributes = description.typedSearchAttributes;
  const [orgId, uses = []] = [attributes.get(searchAttributes.organization), attributes.get(searchAttributes.provider)];
  const broken = orgId !== undefined && uses.length > 0 ? await notWorkingOf(orgId) : [];
  return {
    ...listedOf(description),
    // The workflow does not know that its activity fails, so its own status is replaced.
    ...(failing && { status: 'retrying' }),
    does: kindOf(description.type)?.does ?? '',
    not_working: broken.filter(({ provider }) => uses.includes(provider)),
    details: failing
      ? (here
          ?.replace(attemptsElsewhere, `${failing.activity}: ${failing.failed}`)
          .replace('| state | running |', '| state | retrying |') ?? null)
      : here,
    attempts,
    events: description.historyLength,
  };
}

/**
 * Retries the failed activities of a workflow, or a waiting delivery, at once. Returns a sentence that says what was
 * done.
 */
export async function retry({ temporal, by }: Deployment, id: string): Promise<string> {
  const description = await described(temporal, id);
  refuseEnded(description);
  const waiting = (description.raw.pendingActivities ?? []).filter(({ lastFailure }) => lastFailure);
  if (kindOf(description.type)?.kind === 'delivery') {
    const orgId = description.typedSearchAttributes.get(searchAttributes.organization);
    // The signal wakes the workflow, which makes an attempt only when the delivery's stored time has come. So that time
    // is changed first.
    if (orgId !== undefined) await hastenDeliveries(orgId, id, new Date());
    await temporal.workflow.getHandle(id).signal(tryNowSignal);
  } else if (waiting.length === 0) return 'Nothing of it has failed; it waits for something else (ops show).';
  const { namespace } = temporal.options;
  const execution = { workflowId: id };
  // Temporal 1.29 knows no `matchAll`, so each activity is reset on its own.
  for (const { activityId } of waiting)
    await temporal.workflowService.resetActivity({ namespace, execution, identity: by, id: activityId ?? '' });
  return 'It is tried now.';
}

/**
 * Stops a workflow in the way that its kind defines: by its update `cancel`, or by terminating it. @throws CliError
 * REFUSED with what to do instead
 */
export async function cancel({ temporal, by }: Deployment, id: string): Promise<string> {
  const description = await described(temporal, id);
  refuseEnded(description);
  const stop = kindOf(description.type)?.stop;
  if (!stop) throw new CliError(`This version does not know ${description.type}.`, { code: 'REFUSED' });
  if ('instead' in stop) throw new CliError(stop.instead, { code: 'REFUSED' });
  if (stop.by === 'terminating') {
    await temporal.workflow.getHandle(id).terminate(`ops cancel by ${by}`);
    return 'It is ended; its records stay.';
  }
  await command({ temporal }, id, cancelUpdate, { id: randomUUID(), args: [] }).catch((cause: Error) => {
    throw new CliError(cause.message, { code: 'REFUSED', cause });
  });
  return 'It ends now, and keeps what it has.';
}

const cancelUpdate = { type: 'update', name: 'cancel' } as UpdateDefinition<void>;

async function described(temporal: Client, id: string): Promise<WorkflowExecutionDescription> {
  try {
    return await temporal.workflow.getHandle(id).describe();
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
    throw new CliError(`Temporal knows no workflow ${id}, or has deleted it after its retention.`, {
      code: 'NOT_FOUND',
      cause: error,
    });
  }
}

function refuseEnded({ status, closeTime }: WorkflowExecutionDescription): void {
  if (status.name !== 'RUNNING')
    throw new CliError(`It has ended already, at ${closeTime?.toISOString() ?? 'an unknown time'}.`, { code: 'ENDED' });
}

async function attemptsOf(temporal: Client, id: string, known?: WorkflowExecutionDescription): Promise<Attempt[]> {
  // Temporal may have deleted the workflow since it was listed.
  const description =
    known ??
    (await temporal.workflow
      .getHandle(id)
      .describe()
      .catch(() => undefined));
  const messageOf = async (failure: ProtoFailure): Promise<string> => {
    const error = await decodeOptionalFailureToOptionalError(temporal.options.loadedDataConverter, failure);
    return error?.message ?? '';
  };
  const pendings = description?.raw.pendingActivities ?? [];
  return Promise.all(
    pendings.map(async (pending) => {
      const { activityType, attempt, lastFailure, nextAttemptScheduleTime } = pending;
      const name = activityType?.name ?? '';
      const seconds = nextAttemptScheduleTime?.seconds;
      return {
        activity: activities[name] ?? name,
        attempt: attempt ?? 1,
        failed: lastFailure ? await messageOf(lastFailure) : null,
        next: seconds == null ? null : new Date(Number(seconds) * 1_000).toISOString(),
      };
    }),
  );
}
