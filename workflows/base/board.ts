/**
 * What operators see of a workflow as its current details in the Temporal UI. All workflows show the same table: state,
 * since when, what the workflow waits for and until when, what failed last, and what an operator can do. The
 * `interceptors` below note activities and timers automatically. A workflow adds its state and other facts by `show`.
 * No text contains names of people or content such as messages.
 */
import {
  isCancellation,
  setCurrentDetails,
  upsertSearchAttributes,
  workflowInfo,
  type WorkflowInterceptorsFactory,
} from '@temporalio/workflow';
import { searchAttributes } from '../attributes.ts';
import { activities, attemptsElsewhere, kindOf, seeAttempts } from './kinds.ts';

/** What a workflow shows. A call of `show` replaces only the given fields; `undefined` removes a field. */
export type Shown = {
  /** The state in one word, which is also the search attribute `Status`. Each change costs a Temporal action. */
  status?: string;
  /** The services that the workflow is about, which are also the search attribute `Provider`. */
  providers?: readonly string[];
  /** What the workflow waits for besides its activities and timers. */
  waitsFor?: string | undefined;
  failed?: string | undefined;
  /** What an operator can do, besides `ops show`, as sentences. */
  can?: readonly string[];
  /** A table or a list in Markdown that only this kind of workflow shows. */
  more?: string | undefined;
};

type Wait = { what: string; since: number; until?: number };

// Temporal gives each workflow its own copy of this module, so these variables belong to one workflow.
const waits = new Set<Wait>();
let shown: Shown = {};
let status: { word: string; since: number } | undefined;
let providers = '';

/** Shows operators the state of this workflow. */
export function show(news: Shown): void {
  shown = { ...shown, ...news };
  if (news.status !== undefined && news.status !== status?.word) {
    status = { word: news.status, since: Date.now() };
    const named = shown.providers ?? [];
    const isNew = named.length > 0 && named.join() !== providers;
    providers = named.join();
    upsertSearchAttributes([
      { key: searchAttributes.status, value: news.status },
      ...(isNew ? [{ key: searchAttributes.provider, value: [...named] }] : []),
    ]);
  }
  render();
}

/**
 * While `work` runs, lists `wait` among the things that the workflow waits for. If `work` fails, shows its error as the
 * latest failure.
 */
async function noted<T>(wait: Wait, work: () => Promise<T>): Promise<T> {
  waits.add(wait);
  render();
  try {
    return await work();
  } catch (error) {
    if (!isCancellation(error)) shown.failed = `${wait.what}: ${messageOf(error)}`;
    throw error;
  } finally {
    waits.delete(wait);
    render();
  }
}

/** The message of the error that made an activity fail. Workers keep user data out of it (workers/failures.ts). */
const messageOf = (error: unknown): string => String((error as Error).cause ?? error);

export const interceptors: WorkflowInterceptorsFactory = () => ({
  inbound: [
    {
      async execute(input, next) {
        render();
        try {
          return await next(input);
        } finally {
          render({ ended: true });
        }
      },
    },
  ],
  outbound: [
    {
      scheduleActivity(input, next) {
        const what = activities[input.activityType] ?? input.activityType;
        return noted({ what, since: Date.now() }, () =>
          next({ ...input, options: { ...input.options, summary: what } }),
        );
      },
      startTimer(input, next) {
        const since = Date.now();
        const what = input.options?.summary ?? 'a timer';
        return noted({ what, since, until: since + input.durationMs }, () => next(input));
      },
    },
  ],
});

/** Sets the current details: a first line that is short enough for a list, the table, and what `shown.more` adds. */
function render({ ended = false } = {}): void {
  const state = status?.word ?? (ended ? 'ended' : 'running');
  const since = Math.max(status?.since ?? 0, workflowInfo().runStartTime.getTime());
  const open = [...waits];
  const until = Math.min(...open.map((wait) => wait.until ?? Infinity));
  const own = shown.waitsFor === undefined ? [] : [shown.waitsFor];
  const awaited = [...own, ...open.map((wait) => `${wait.what}, since ${iso(wait.since)}`)];
  const rows = [
    ['state', state],
    ['since', iso(since)],
    ['waits for', awaited.join('; ') || 'nothing'],
    ['until', Number.isFinite(until) ? iso(until) : 'without a time'],
    // A workflow does not learn of failed attempts of its open activities, so this row says where operators see them.
    ['failed last', shown.failed ?? (open.some((wait) => wait.until === undefined) ? attemptsElsewhere : 'nothing')],
    ['you can', youCan(ended).join('<br>') || 'leave it: nothing is left to do'],
  ];
  const named = awaited.length > 0 ? [...own, ...open.map((wait) => wait.what)] : [shown.failed ?? []].flat();
  const first = [state, ...new Set(named)].join(': ').slice(0, 120);
  const table = ['| | |', '| --- | --- |', ...rows.map(([name, value]) => `| ${name} | ${value} |`)].join('\n');
  setCurrentDetails([first, table, ...(shown.more === undefined ? [] : [shown.more])].join('\n\n'));
}

/**
 * What operators can do, in this order: see the attempts, do what the workflow names in `shown.can`, retry, stop the
 * workflow. For an ended workflow, only the actions in `shown.can` are listed.
 */
function youCan(ended: boolean): readonly string[] {
  const own = shown.can ?? [];
  if (ended) return own;
  const { workflowId, workflowType } = workflowInfo();
  const ops = (command: string) => `\`npm run -s cli -- ops ${command} ${workflowId}\``;
  const stop = kindOf(workflowType)?.stop;
  const stopped = stop && `to stop it: ${'by' in stop ? ops('cancel') : stop.instead}`;
  const isRetried = kindOf(workflowType)?.kind === 'delivery' || [...waits].some(({ until }) => until === undefined);
  return [
    seeAttempts(workflowId),
    ...own,
    ...(isRetried ? [`when the cause is mended, try again at once: ${ops('retry')}`] : []),
    ...(stopped ? [stopped] : []),
  ];
}

const iso = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
