/**
 * A separate system for one benchmark, with an organization and a key, in a temporary folder that is removed at the
 * end.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import { readConfig } from '../config.ts';
import { demoOrganization } from '../engines/demo.ts';
import { freePort } from '../engines/ports.ts';
import { startSystem } from '../engines/system.ts';
import { until } from '../test/kit/harness.ts';
import { startProcess, type Running } from '../test/kit/processes.ts';

export type Stage = {
  /** The API's URL, `http://127.0.0.1:PORT/v1`. */
  base: string;
  url: string;
  orgId: string;
  key: string;
  publishableKey: string;
  /** The URI of MongoDB with the name of the database. */
  mongodbUri: string;
  temporalAddress: string;
  searchUri: string;
  dataDir: string;
};

/** No quota may affect a measurement; all other settings have their defaults. */
export const unlimited = {
  LIMITS: [
    'sandbox_documents=100000',
    'test_replies_per_minute=100000',
    'test_conversations_per_month=100000',
    'sign_in_per_minute=1000000',
    'accounts_per_hour=1000000',
    'invitations_per_hour=1000000',
    'writes_per_minute=10000000',
    'queries_per_minute=10000000',
    'sessions_per_minute=10000000',
    'messages_per_minute=10000000',
    'other_frames_per_minute=10000000',
    'address_connects_per_minute=10000000',
    'address_messages_per_minute=10000000',
    'sockets_per_address=100000',
  ].join(','),
  LOG_LEVEL: 'warn',
  LANCE_LOG: 'error',
};

/**
 * Starts the system, runs `play`, and then stops and removes everything, even after a failure. `settings`: additional
 * environment. `demoOptions`: options of the stage's organization.
 */
export async function onStage(
  play: (stage: Stage) => Promise<void>,
  settings: Record<string, string> = {},
  demoOptions: Parameters<typeof demoOrganization>[2] = {},
): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'support-bench-'));
  const env = {
    ...process.env,
    ...unlimited,
    ...settings,
    LIMITS: [unlimited.LIMITS, settings['LIMITS']].filter(Boolean).join(','),
    PORT: String(await freePort(undefined)),
    DATA_DIR: dataDir,
  };
  const config = readConfig(env);
  try {
    const system = await startSystem({ config, env, report: (line) => console.log(`  ${line}`) });
    try {
      const demo = await demoOrganization(system.url, dataDir, demoOptions);
      const { url, temporalAddress } = system;
      const mongodb = new URL(system.mongodbUri);
      // This is the name of the system's database when the URI contains none.
      if (mongodb.pathname.length <= 1) mongodb.pathname = '/support_platform';
      await play({
        base: `${url}/v1`,
        url,
        orgId: demo.org_id,
        key: demo.key,
        publishableKey: demo.publishable_key,
        mongodbUri: mongodb.href,
        temporalAddress,
        searchUri: config.searchUri,
        dataDir,
      });
    } finally {
      await system.stop();
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Waits until all documents of the organization answer questions. `embedded`: also by meaning. */
export async function untilIndexed({ base, orgId, key }: Stage, embedded = false): Promise<void> {
  await until(async () => {
    const headers = { authorization: `Bearer ${key}` };
    const reply = await fetch(`${base}/orgs/${orgId}/documents?limit=100`, { headers });
    const { documents } = (await reply.json()) as { documents: { status: string; embedded_at: string | null }[] };
    const isReady = ({ status, embedded_at }: (typeof documents)[number]): boolean =>
      status === 'indexed' && (!embedded || embedded_at !== null);
    return documents.length > 0 && documents.every(isReady);
  }, 'the documents in answers');
}

/** Runs `work` on each item, `lanes` at a time. */
export async function inLanes<T>(
  items: readonly T[],
  lanes: number,
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      while (next < items.length) {
        const index = next;
        next += 1;
        await work(items[index] as T, index);
      }
    }),
  );
}

/**
 * The events of a workflow's history that count as Temporal actions: starting a workflow, and each signal, activity,
 * timer and change of search attributes. A signal with start is one action. Retries and heartbeats leave no event, so
 * benchmarks where they occur add them.
 */
const actionEvents =
  /^EVENT_TYPE_(WORKFLOW_EXECUTION_(STARTED|SIGNALED)|ACTIVITY_TASK_SCHEDULED|MARKER_RECORDED|TIMER_STARTED|UPSERT_WORKFLOW_SEARCH_ATTRIBUTES)$/;

export function countActions(events: readonly { eventType?: number | null }[]): number {
  const types = proto.temporal.api.enums.v1.EventType;
  const counted = events.filter(({ eventType }) => actionEvents.test(types[eventType ?? 0] ?? '')).length;
  const together = events[1]?.eventType === types.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED;
  return together ? counted - 1 : counted;
}

/** The number of Temporal actions in all runs of these workflows. */
export async function actionsOf({ temporalAddress }: Stage, workflowIds: readonly string[]): Promise<number> {
  const connection = await Connection.connect({ address: temporalAddress });
  try {
    const { workflow } = new Client({ connection });
    let actions = 0;
    for (const id of workflowIds) {
      for await (const { runId } of workflow.list({ query: `WorkflowId = "${id}"` })) {
        const { events } = await workflow.getHandle(id, runId).fetchHistory();
        actions += countActions(events ?? []);
      }
    }
    if (actions === 0) throw new Error('none of these is in the list of workflows');
    return actions;
  } finally {
    await connection.close();
  }
}

/** The time that the work takes, in ms. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** The quantile of the values; `share` is between 0 and 1. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** The peak memory of a process in MiB; undefined if the operating system does not report it. */
export async function peakMemory(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kib = /^VmHWM:\s+(\d+) kB/mu.exec(status)?.[1];
  return kib === undefined ? undefined : Math.round(Number(kib) / 1024);
}

/** The CPU time of a process so far; 0 before it is started. */
export async function cpuMs(pid: number | undefined): Promise<number> {
  if (pid === undefined) return 0;
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // User and system time, in hundredths of a second: the 12th and 13th fields after the name, which may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

const kinds = [
  'API',
  'worker',
  'models of the API',
  'models of the worker',
  'readers',
  'MongoDB',
  'Temporal',
  'start',
] as const;
export type Kind = (typeof kinds)[number];
type Process = { pid: number; parent: number; kind: Kind };

/**
 * The kinds of processes by their command lines. A process that runs embedding models is recognized by its parent
 * instead.
 */
const commands: readonly [RegExp, Kind][] = [
  [/api[/]server[.]ts|givenapi[.]ts/u, 'API'],
  [/workers[/]main[.]ts/u, 'worker'],
  [/readers-[0-9a-f]+[/](?:files|pages)[.]mjs/u, 'readers'],
  [/mongod/u, 'MongoDB'],
  [/temporal.*server/u, 'Temporal'],
];

/**
 * The processes of a stage or of `npm start` in `dataDir`. A reader ends after one file, so most readers are not found,
 * only the one that waits for a file. Guards (engines/child.ts) are included, because they have the same command lines
 * as their processes; they use little memory and processor time. The kind `start` is this process, or that of `npm
 * start`.
 */
export async function processesOf(dataDir: string): Promise<Process[]> {
  const all = (await readdir('/proc')).filter((name) => /^\d+$/u.test(name)).map(Number);
  const read = async (pid: number, file: string) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
  const found: Process[] = [];
  const children: Omit<Process, 'kind'>[] = [];
  for (const pid of all) {
    const command = (await read(pid, 'cmdline')).replaceAll('\0', ' ');
    const stat = await read(pid, 'stat');
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    if (command.includes('embedding/child.ts')) children.push({ pid, parent });
    const kind = commands.find(([pattern]) => pattern.test(command))?.[1];
    const isOurs = command.includes(dataDir) || (await read(pid, 'environ')).includes(`DATA_DIR=${dataDir}\0`);
    if (kind !== undefined && isOurs) found.push({ pid, parent, kind });
  }
  for (const child of children) {
    const owner = found.find(({ pid }) => pid === child.parent)?.kind;
    if (owner === 'API' || owner === 'worker') found.push({ ...child, kind: `models of the ${owner}` });
  }
  const guards = found.filter(({ kind, pid }) => found.some((one) => one.parent === pid && one.kind === kind));
  const [starter] = guards.map(({ parent }) => parent);
  return [...found, ...(starter === undefined ? [] : [{ pid: starter, parent: 0, kind: 'start' as const }])];
}

/** The processor time of a stage's processes so far by kind, in ms. */
export async function cpuByKind({ dataDir }: Pick<Stage, 'dataDir'>): Promise<Record<Kind, number>> {
  const sums = Object.fromEntries(kinds.map((kind) => [kind, 0])) as Record<Kind, number>;
  for (const { pid, kind } of await processesOf(dataDir)) sums[kind] += await cpuMs(pid).catch(() => 0);
  return sums;
}

/** A second API process of the stage, which shares its databases and its logins. */
export function startBeside(stage: Stage, program = 'api/server.ts'): Promise<Running> {
  return startProcess(program, {
    ...unlimited,
    DATA_DIR: stage.dataDir,
    MONGODB_URI: stage.mongodbUri,
    TEMPORAL_ADDRESS: stage.temporalAddress,
    SEARCH_URI: stage.searchUri,
    EMBEDDING: 'off',
    // Logins are valid only for the URL for which they were issued.
    PUBLIC_URL: stage.url,
    PORT: '0',
  });
}
