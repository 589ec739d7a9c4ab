/**
 * Benchmark of executing 200 tasks in Linear and GitHub (local emulators) while a tenth of all requests fails. Of the
 * failing requests, a third gets 500, a third is executed but never answered, and a third gets 429 with `Retry-After`.
 * Goals: all tasks succeed, and exactly 200 issues exist in each service at the end.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { MongoClient } from 'mongodb';
import { countActions, inLanes, quantile, type Stage } from './stage.ts';
import { apiAt, type TestOrg } from '../test/kit/harness.ts';
import { randomNumbers } from '../test/kit/random.ts';
import {
  githubCall,
  githubRepository,
  linearCall,
  linearTeam,
  startGithubService,
  startLinearService,
  type Fault,
  type Service,
} from '../test/kit/services.ts';
import { defined } from '../models/rules/base/defined.ts';

/** `npm run bench -- tasks small` runs a tenth of the tasks, as a smoke test. */
const tasks = process.argv[3] === 'small' ? 20 : 200;
const failing = 0.1;
const lanes = 16;

type Trackers = { linear: Service; github: Service };
export type ExecutionStage = { trackers: Trackers; settings: Record<string, string>; close(): Promise<void> };

/** Starts the emulators, and returns them with the environment variables with which the system reaches them. */
export async function prepare(): Promise<ExecutionStage> {
  const [linear, github] = await Promise.all([startLinearService(), startGithubService()]);
  return {
    trackers: { linear, github },
    settings: { SERVICE_URLS: `linear=${linear.url}/graphql,github=${github.url}` },
    close: async () => void (await Promise.all([linear.close(), github.close()])),
  };
}

const faults: Readonly<Record<string, Fault>> = {
  'answered 500': { status: 500, body: { message: 'Server Error' } },
  'never answered': { mute: true },
  'answered 429': { status: 429, headers: { 'retry-after': '1' }, body: { message: 'Slow down' } },
};
const kinds = Object.keys(faults);

/** Makes a tenth of the requests fail, and counts the failures by kind. */
function troubled({ linear, github }: Trackers): Map<string, number> {
  const random = randomNumbers(14);
  const counts = new Map(kinds.map((kind) => [kind, 0]));
  for (const service of [linear, github])
    service.choosing(() => {
      if (random() >= failing) return undefined;
      const kind = kinds[Math.floor(random() * kinds.length)]!;
      counts.set(kind, counts.get(kind)! + 1);
      return faults[kind];
    });
  return counts;
}

/** Runs the benchmark; returns the goals that were missed. */
export async function measure(stage: Stage, { trackers }: ExecutionStage): Promise<string[]> {
  const api = apiAt(stage.url);
  const org = await api.newOrg();
  await api.goLive(org);
  const connected = await Promise.all([
    put(api, org, 'linear', { api_key: 'lin_api_bench', team_id: linearTeam.id }),
    put(api, org, 'github', { token: 'ghp_bench', repository: githubRepository }),
  ]);
  if (connected.some(({ status }) => status !== 200)) throw new Error('The trackers could not be connected.');
  const path = `/orgs/${org.orgId}/tasks`;
  const ask = (method: string, at: string, body?: unknown) =>
    api.request(method, `${path}${at}`, { token: org.owner.token, ...defined({ body }) });

  const ids: string[] = [];
  await inLanes(Array.from({ length: tasks }), lanes, async (_, index) => {
    const { body } = await ask('POST', '', { title: `Call customer ${index}`, priority: 'high' });
    ids.push(body.data.task_id);
  });
  const injected = troubled(trackers);
  const asked = [trackers.linear, trackers.github].reduce((sum, { sent }) => sum + sent.length, 0);
  const began = performance.now();
  await inLanes(ids, lanes, async (id) => {
    const { status, body } = await ask('POST', `/${id}/execute`, {});
    if (status !== 202) throw new Error(`execute: ${status} ${JSON.stringify(body)}`);
  });
  const accepted = (performance.now() - began) / 1_000;
  const lasted = await ends(stage, ids, began);
  const requests = [trackers.linear, trackers.github].reduce((sum, { sent }) => sum + sent.length, 0) - asked;
  for (const service of [trackers.linear, trackers.github]) service.heal();

  const results = await Promise.all(ids.map(async (id) => (await ask('GET', `/${id}/result`)).body.data));
  const succeeded = results.filter(({ execution_status }) => execution_status === 'completed').length;
  const attempts = results.flatMap(({ steps }) => steps).reduce((sum: number, step) => sum + step.attempts, 0);
  const [inLinear, inGithub] = [await linearIssues(trackers.linear), await githubIssues(trackers.github)];
  const said = [...injected].map(([kind, count]) => `${count} ${kind}`).join(', ');
  console.log(`${tasks} tasks executed in Linear and GitHub, of ${requests} requests ${said}:`);
  console.log(`  accepted within                ${accepted.toFixed(1)} s`);
  console.log(
    `  succeeded                      ${succeeded} (asked: ${tasks}), in ${attempts} attempts at ${2 * tasks} steps`,
  );
  console.log(`  issues in Linear, in GitHub    ${inLinear}, ${inGithub} (asked: exactly ${tasks} each)`);
  console.log(
    `  from the first request on      p50 ${quantile(lasted, 0.5).toFixed(1)} s, p99 ${quantile(lasted, 0.99).toFixed(1)} s, last ${lasted.at(-1)!.toFixed(1)} s`,
  );
  console.log(`  Temporal actions an execution  ${(await actionsOf(stage, ids)).toFixed(1)}`);
  return [
    ...(succeeded === tasks ? [] : ['executions that succeeded']),
    ...(inLinear === tasks && inGithub === tasks ? [] : ['one issue for each task']),
  ];
}

const put = (api: ReturnType<typeof apiAt>, org: TestOrg, provider: string, body: unknown) =>
  api.request('PUT', `/orgs/${org.orgId}/integrations/${provider}`, { token: org.owner.token, body });

/** Waits until all tasks have ended; returns the sorted durations in s. */
async function ends(stage: Stage, ids: readonly string[], began: number): Promise<number[]> {
  const mongo = await MongoClient.connect(stage.mongodbUri);
  try {
    const collection = mongo.db().collection<{ _id: string; executed_at: Date }>('tasks');
    const running = { _id: { $in: [...ids] }, execution_status: 'running' };
    while ((await collection.countDocuments(running)) > 0) {
      if (performance.now() - began > 1_800_000) throw new Error('They had not all ended after half an hour.');
      await sleep(250);
    }
    const beganAt = Date.now() - (performance.now() - began);
    const records = await collection.find({ _id: { $in: [...ids] } }).toArray();
    return records.map(({ executed_at: at }) => (at.getTime() - beganAt) / 1_000).toSorted((a, b) => a - b);
  } finally {
    await mongo.close();
  }
}

async function actionsOf(stage: Stage, ids: readonly string[]): Promise<number> {
  const mongo = await MongoClient.connect(stage.mongodbUri);
  const connection = await Connection.connect({ address: stage.temporalAddress });
  try {
    const { workflow } = new Client({ connection });
    let actions = 0;
    const records = await mongo
      .db()
      .collection<{ _id: string; execution_id: string }>('tasks')
      .find({ _id: { $in: [...ids] } })
      .toArray();
    await inLanes(records, lanes, async ({ _id, execution_id }) => {
      for (const id of [`task:${_id}:execution:${execution_id}`, `task:${_id}:issues`]) {
        const { events } = await workflow.getHandle(id).fetchHistory();
        actions += countActions(events ?? []);
      }
    });
    return actions / records.length;
  } finally {
    await connection.close();
    await mongo.close();
  }
}

/** The number of issues, without the one that the emulator starts with. */
async function linearIssues(service: Service): Promise<number> {
  const query = 'query { issues(first: 1000) { nodes { description } } }';
  const nodes = (await linearCall(service, query)).data.issues.nodes as { description: string | null }[];
  return nodes.filter(({ description }) => description?.includes('Task task_')).length;
}

async function githubIssues(service: Service): Promise<number> {
  for (let page = 1, all = 0; ; page += 1) {
    const path = `/repos/${githubRepository}/issues?state=all&per_page=100&page=${page}`;
    const issues = (await githubCall(service, 'GET', path)) as unknown[];
    all += issues.length;
    if (issues.length < 100) return all;
  }
}
