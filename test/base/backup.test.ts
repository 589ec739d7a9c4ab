/**
 * Restores of MongoDB and Temporal that do not fit each other (docs/operating.md, Backup and restore), with the real
 * programs and a Temporal in a file. The backups are made while accepted work waits for a worker.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual, promisify } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import type { Db, Document, Filter, MongoClient } from 'mongodb';
import { createSearch } from '../../clients/knowledge/search/search.ts';
import { unfinished } from '../../cli/operator/restart.ts';
import { freePort } from '../../engines/ports.ts';
import { findTemporal, startTemporal, type Temporal } from '../../engines/temporal.ts';
import { slices } from '../../workers/slices/index.ts';
import { runCli } from '../kit/cli.ts';
import { openClient } from '../kit/database.ts';
import { dump, restore, type Dump } from '../kit/dump.ts';
import { apiAt, until, type Api, type TestOrg, type TestSession } from '../kit/harness.ts';
import { removeDataDir, startProcess, systemEnv, type Running, type SystemEnv } from '../kit/processes.ts';
import { outboxOf, startReceiver, status, type Receiver } from '../kit/receiver.ts';
import { page, startSite, type TestSite } from '../kit/sites.ts';

const silent = (): void => undefined;
const price = (bird: string): string => `What does the ${bird} card cost?`;
const nothing = 'I could not find anything about this in the available documents.';

let folder: string;
let env: SystemEnv;
let client: MongoClient;
let db: Db;
let receiver: Receiver;
let site: TestSite;
let org: TestOrg & { key: string };
let temporal: Temporal | undefined;
const processes: Running[] = [];
let api: Api;
/** The first customer, whose conversation is older than both backups. */
let customer: TestSession;
/** The ids of the documents by the name of the bird that they are about. */
const documents: Record<string, string> = {};
let before: Dump;
let after: Dump;

const temporalFolder = (name: string): string => join(folder, name);
async function startTemporalFrom(name: string): Promise<void> {
  const port = Number(env['TEMPORAL_ADDRESS']!.split(':')[1]);
  temporal = await startTemporal({ dataDir: temporalFolder(name), port, report: silent });
}
const programs = { api: 'api/server.ts', worker: 'workers/main.ts' };
async function start(...names: (keyof typeof programs)[]): Promise<void> {
  const started = await Promise.all(names.map((name) => startProcess(programs[name], env)));
  processes.push(...started);
  api = apiAt(started.find(({ url }) => url !== '')?.url ?? api.url);
}
async function stopAll(): Promise<void> {
  await Promise.all(processes.splice(0).map((one) => one.stop()));
}
async function stopTemporal(): Promise<void> {
  await temporal?.stop();
  temporal = undefined;
}

const count = (name: string, filter: Filter<Document> = {}): Promise<number> =>
  db.collection(name).countDocuments(filter);
const none = (name: string, filter: Filter<Document>): Promise<void> =>
  until(async () => (await count(name, filter)) === 0, `no ${name} with ${JSON.stringify(filter)}`).then(silent);
const ops = async (...args: string[]) => {
  const { code, stdout, stderr } = await runCli(['ops', ...args, '--json'], { ...env, HOME: folder });
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
};
/** Calls `asked` with a client of the running Temporal. */
async function inTemporal<T>(namespace: string, asked: (client: Client) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address: env['TEMPORAL_ADDRESS']! });
  try {
    return await asked(new Client({ connection, namespace }));
  } finally {
    await connection.close();
  }
}
/** The ids of the workflows that match the query. */
const workflowsIn = (namespace: string, query: string): Promise<string[]> =>
  inTemporal(namespace, async ({ workflow }) => {
    const ids: string[] = [];
    for await (const { workflowId } of workflow.list({ query })) ids.push(workflowId);
    return ids;
  });
/** Waits until each schedule of crawls is at Temporal. */
async function scheduled(namespace: string): Promise<void> {
  const recrawls = await db.collection<{ _id: string }>('recrawls').find().toArray();
  expect(recrawls).toHaveLength(1);
  const look = ({ schedule }: Client) => schedule.getHandle(`recrawl:${recrawls[0]!._id}`).describe();
  await until(() => inTemporal(namespace, look).catch(() => undefined), 'the schedule of crawls');
}

const ask = async (bird: string): Promise<string> => {
  const asked = { token: org.key, body: { query: price(bird) } };
  return (await api.request('POST', `/orgs/${org.orgId}/kb/query`, asked)).body.answer;
};
/** Waits until the price is found: the index agrees with MongoDB only after maintenance has repaired it. */
const found = (bird: string) => until(async () => (await ask(bird)).includes('3 euros'), `the price of the ${bird}`);
async function upload(bird: string): Promise<void> {
  const file = { name: `${bird}.md`, content: `The ${bird} card costs 3 euros a month.` };
  documents[bird] = (await api.upload(org.orgId, org.key, file)).body.document.doc_id;
}
async function reprocess(bird: string): Promise<void> {
  const asked = { token: org.key };
  const path = `/orgs/${org.orgId}/documents/${documents[bird]}/reprocess`;
  expect((await api.request('POST', path, asked)).status).toBe(202);
}
/** The ids of the documents that the index has passages of, sorted. */
async function documentsInIndex(): Promise<string[]> {
  const search = createSearch({ uri: join(env.DATA_DIR, 'search') });
  try {
    const rows = await search.listSources({ org_id: org.orgId, mode: 'live' });
    return [...new Set(rows.map(({ source_id }) => source_id))].filter((id) => id.startsWith('doc_')).toSorted();
  } finally {
    search.close();
  }
}
const remove = (bird: string) =>
  api.request('DELETE', `/orgs/${org.orgId}/documents/${documents[bird]}`, { token: org.key });
async function write(from: TestSession, body: string): Promise<void> {
  const sent = { token: from.token, body: { body } };
  expect((await api.request('POST', `/support/chat/messages/${org.orgId}`, sent)).status).toBe(202);
}
const answered = (body: string) =>
  until(async () => (await count('messages', { body, state: 'answered' })) === 1, `the answer to ${body}`);

/** Requests work of each kind while no worker runs: it is accepted and started, but unfinished in the backup. */
async function accept(bird: string): Promise<void> {
  await upload(bird);
  await write(await api.newSession(org, { key: org.key }), price('heron'));
  await outboxOf(api).newTicket(org);
  const crawl = { url: site.url, options: { every_hours: 24 } };
  const asked = { token: org.key, body: crawl };
  expect((await api.request('POST', `/orgs/${org.orgId}/crawl`, asked)).status).toBe(202);
  const interview = { token: org.owner.token, body: { role_title: bird } };
  expect((await api.request('POST', `/orgs/${org.orgId}/interviews`, interview)).status).toBe(201);
}
/** Waits until all work that people wait for is done. */
async function finished(): Promise<void> {
  await none('documents', { status: { $ne: 'indexed' } });
  await none('messages', { $or: [{ state: 'waiting' }, { shown: false }] });
  await none('deliveries', { status: { $ne: 'delivered' } });
  await none('conversations', { 'untold.0': { $exists: true } });
  await none('crawls', { status: { $ne: 'completed' } });
}
/** The `webhook-id` of each delivery that arrived, sorted. */
const arrived = (): string[] => receiver.received.map(({ headers }) => String(headers['webhook-id'])).toSorted();
let arrivedBefore: string[];

/** Stops everything and restores MongoDB and Temporal from backups. Without `temporalFrom`, Temporal is empty. */
async function bring(dumped: Dump, temporalFrom: string | undefined): Promise<void> {
  await stopAll();
  await stopTemporal();
  receiver.received.length = 0;
  await restore(env['MONGODB_URI']!, dumped);
  await rm(temporalFolder('restored'), { recursive: true, force: true });
  if (temporalFrom) await cp(temporalFolder(temporalFrom), temporalFolder('restored'), { recursive: true });
  await startTemporalFrom('restored');
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'support-backup-'));
  env = systemEnv('backup', {
    TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}`,
    FLEETS: 'documents,backlog,sources,conversations,deliveries,slowdeliveries,crawl,interviews,maintenance',
  });
  client = await openClient(env['MONGODB_URI']!);
  db = client.db();
  [receiver, site] = await Promise.all([
    startReceiver(status(503)),
    startSite({ '/': page('Help', 'The tern loan runs ten years.') }),
  ]);
  await startTemporalFrom('now');
  await start('api', 'worker');
  org = await outboxOf(api).newOrg(receiver.url);
  for (const bird of ['heron', 'zebra finch', 'dodo']) await upload(bird);
  await none('documents', { status: { $ne: 'indexed' } });
  customer = await api.newSession(org, { key: org.key });
  await write(customer, price('heron'));
  await answered(price('heron'));
  await outboxOf(api).newTicket(org);
  await until(async () => (await count('deliveries', { status: 'retrying' })) === 1, 'a delivery that is retried');
  const leaving = await api.newSession(org, { key: org.key });

  await processes.pop()!.stop();
  await accept('gull');
  await remove('zebra finch');
  const erasing = { token: org.owner.token };
  await api.request('DELETE', `/support/customers/orgs/${org.orgId}/${leaving.customerId}`, erasing);
  await stopAll();
  before = await dump(env['MONGODB_URI']!);
  await stopTemporal();
  await cp(temporalFolder('now'), temporalFolder('before'), { recursive: true });

  receiver.answer = status(204);
  receiver.received.length = 0;
  await startTemporalFrom('now');
  await start('api', 'worker');
  await upload('cormorant');
  await reprocess('heron');
  await finished();
  await none('removals', {});
  arrivedBefore = arrived();
  await remove('dodo');
  await none('removals', {});
  await processes.pop()!.stop();
  await accept('puffin');
  await stopAll();
  after = await dump(env['MONGODB_URI']!);
  await stopTemporal();
});
afterAll(async () => {
  await Promise.all(processes.splice(0).map((one) => one.kill()));
  await stopTemporal();
  await Promise.all([client.close(), receiver.close(), site.close()]);
  await removeDataDir(env);
  await rm(folder, { recursive: true, force: true });
});

it('the backups in these tests contain no record whose workflow still waits to be started', () => {
  for (const [name, dumped] of Object.entries({ before, after }))
    expect([name, [...dumped.values()].flatMap(({ waiting }) => waiting)]).toEqual([name, []]);
});

describe('MongoDB is restored to an earlier time than Temporal', () => {
  it('when MongoDB is restored to an earlier time than Temporal, the command `ops restart` finishes the restored work', async () => {
    await bring(before, 'now');
    await start('api', 'worker');
    // Reprocessing would start a workflow under an id that Temporal already knows: that workflow ran after MongoDB's
    // backup and has ended.
    await reprocess('heron');
    const { restarted } = await ops('restart');
    expect(restarted).toMatchObject({ messages: 2, deliveries: 2, documents: 2, crawls: 1, removals: 1, erasures: 1 });
    await finished();
    expect((await ops('stuck')).failing).toEqual([]);
    // The deliveries that arrived after the backup arrive once more, under the same ids.
    await until(async () => receiver.received.length >= arrivedBefore.length, 'the deliveries');
    expect([...new Set(arrived())]).toEqual(arrivedBefore);
    await found('gull');
    for (const bird of ['cormorant', 'puffin', 'zebra finch']) expect([bird, await ask(bird)]).toEqual([bird, nothing]);
    const birds = ['dodo', 'gull', 'heron'].map((bird) => documents[bird]!).toSorted();
    await until(async () => isDeepStrictEqual(await documentsInIndex(), birds), 'maintenance of the index');
    await write(customer, `Once more: ${price('heron')}`);
    await answered(`Once more: ${price('heron')}`);
  });

  it('after a restore of MongoDB with an empty index and a new Temporal namespace, `ops restart` finishes all work', async () => {
    await bring(before, 'now');
    await rm(join(env.DATA_DIR, 'search'), { recursive: true });
    const create = 'operator namespace create --namespace support-2 --retention 72h'.split(' ');
    await promisify(execFile)(await findTemporal(silent), [...create, '--address', env['TEMPORAL_ADDRESS']!]);
    env['TEMPORAL_NAMESPACE'] = 'support-2';
    try {
      await start('api', 'worker');
      await ops('restart');
      await finished();
      await none('removals', {});
      await none('erasures', { status: 'erasing' });
      expect([...new Set(arrived())]).toEqual(arrivedBefore);
      await found('heron');
      await scheduled('support-2');
      const open = await workflowsIn('support-2', '`ExecutionStatus` = "Running"');
      expect(open.filter((id) => id.startsWith('interview:'))).toHaveLength(1);
      // The document that was removed after the backup exists again.
      await found('dodo');
      const erased = await workflowsIn('default', '`Kind` = "erasure" AND `StartTime` > "2026-01-01T00:00:00Z"');
      expect(erased).toContain(`document:${documents['dodo']}:erase`);
      expect((await remove('dodo')).status).toBe(200);
      for (const bird of ['cormorant', 'zebra finch', 'dodo']) expect([bird, await ask(bird)]).toEqual([bird, nothing]);
    } finally {
      env['TEMPORAL_NAMESPACE'] = 'default';
    }
  });
});

describe('Temporal is restored to an earlier time than MongoDB', () => {
  it.each<[string, string | undefined]>([
    ['from an earlier backup', 'before'],
    ['without its data', undefined],
  ])(
    'after Temporal is restored %s, `ops restart` starts the work that Temporal lacks, and repeats no finished work',
    async (_, from) => {
      await bring(after, from);
      await start('api', 'worker');
      await ops('restart');
      await finished();
      expect(arrived().filter((id) => arrivedBefore.includes(id))).toEqual([]);
      expect(receiver.received).toHaveLength(2);
      for (const bird of ['gull', 'cormorant', 'puffin']) await found(bird);
      for (const bird of ['zebra finch', 'dodo']) expect([bird, await ask(bird)]).toEqual([bird, nothing]);
      await scheduled('default');
      const open = await workflowsIn('default', '`ExecutionStatus` = "Running"');
      expect(open.filter((id) => id.startsWith('interview:'))).toHaveLength(2);
      await write(customer, `And again: ${price('heron')}`);
      await answered(`And again: ${price('heron')}`);
    },
  );
});

it('the command `ops restart` covers every kind of record that starts workflows, except those whose work resumes without the command', () => {
  const known = new Set(unfinished.map(({ model }) => model.collection.name));
  const others = slices.flatMap(({ launchable }) => launchable.map((model) => model.collection.name));
  expect(others.filter((name) => !known.has(name)).toSorted()).toEqual([
    // Workers look for passages without vectors when they start, and maintenance for tags.
    'embedding_work',
    'pages',
    // The interview's workflow reads the room by itself.
    'rooms',
  ]);
});
