/**
 * An API process that is killed in the middle of a write leaves no lock or transaction that blocks the next request.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import mongoose from 'mongoose';
import type { ApiFault } from '../kit/faulty-api.ts';
import { apiAt, until, type Api } from '../kit/harness.ts';
import { removeDataDir, startProcess, systemEnv, type Running, type SystemEnv } from '../kit/processes.ts';
import { walked } from '../kit/database.ts';

const limit = 6;
let env: SystemEnv;
let api: Api;
const running: Running[] = [];
beforeAll(async () => {
  env = systemEnv('killed', { LIMITS: `sandbox_documents=${limit}`, FLEETS: 'documents,backlog,sources' });
  running.push(...(await Promise.all(['api/server.ts', 'test/kit/worker.ts'].map((one) => startProcess(one, env)))));
  api = apiAt(running[0]!.url);
});
afterAll(async () => {
  await Promise.all(running.map((process) => process.stop()));
  await removeDataDir(env);
});

/** A new organization with a key, apart from the other tests. */
async function fresh() {
  const org = await api.newOrg();
  return { orgId: org.orgId, token: (await api.newKey(org)).token };
}

/** Kills an API of the same system at a write that `ask` causes, and checks that it leaves no transaction open. */
async function dying(fault: ApiFault, ask: (api: Api) => Promise<unknown>, after = 0): Promise<void> {
  const mongo = new URL(env['MONGODB_URI']!);
  const appName = `dying at ${fault}`;
  mongo.searchParams.set('appName', appName);
  const more = { MONGODB_URI: mongo.href, FAULT: fault, FAULT_AFTER: String(after) };
  const process = await startProcess('test/kit/faulty-api.ts', { ...env, ...more });
  const death = once(process.child, 'exit');
  await ask(apiAt(process.url));
  expect((await death)[1]).toBe('SIGKILL');
  expect(await openTransactions(appName)).toEqual([]);
}

async function withDb<T>(work: (db: mongoose.Connection) => Promise<T>): Promise<T> {
  const db = walked(await mongoose.createConnection(env['MONGODB_URI']!).asPromise());
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

/**
 * Transactions that were begun under this application name and have not ended.
 * mongod keeps those of a dead process for a minute or more.
 */
async function openTransactions(appName: string): Promise<unknown[]> {
  return withDb((db) =>
    db
      .getClient()
      .db('admin')
      .aggregate(
        [
          { $currentOp: { allUsers: true, idleSessions: true } },
          { $match: { transaction: { $exists: true }, 'clientMetadata.application.name': appName } },
          { $project: { desc: 1, transaction: 1 } },
        ],
        // MongoDB allows $currentOp with no other read concern.
        { readConcern: 'local' },
      )
      .toArray(),
  );
}

const text = (n: number) => ({ name: `${n}.md`, content: `Fact number ${n}.` });

describe('an API that is killed during uploads', () => {
  it('after an API is killed during uploads, only the documents that were stored count toward the document limit', async () => {
    const { orgId, token } = await fresh();
    const twelve = (by: Api) =>
      Promise.allSettled(Array.from({ length: 12 }, (_, n) => by.upload(orgId, token, text(n))));
    await dying('document stored', twelve, 1);
    const more = await Promise.all(Array.from({ length: 9 }, (_, n) => api.upload(orgId, token, text(20 + n))));
    const statuses = more.map(({ status }) => status);
    const { documents, count } = (await api.request('GET', `/orgs/${orgId}/documents?limit=100`, { token })).body;
    expect([documents.length, count]).toEqual([limit, limit]);
    // The process died during a write, so it is unknown how many of its documents MongoDB has stored.
    const names = new Set(Array.from({ length: 12 }, (_, n) => text(n).name));
    const standing = documents.filter(({ filename }: { filename: string }) => names.has(filename)).length;
    const stored = limit - standing;
    expect(statuses.sort()).toEqual([...Array<number>(stored).fill(201), ...Array<number>(9 - stored).fill(403)]);
  });
});

describe('the index of stored bytes, missing because the process that created it was killed', () => {
  it('an API that starts creates a missing database index of the stored files, so that files can be read and deleted', async () => {
    const { orgId, token } = await fresh();
    const kept = (await api.upload(orgId, token, text(1))).body.document.doc_id as string;
    await api.processed(orgId, token, kept);
    await withDb((db) => db.collection('files.chunks').dropIndex('files_id_1_n_1'));
    const next = await startProcess('api/server.ts', env);
    running.push(next);
    const answered = await apiAt(next.url).request('DELETE', `/orgs/${orgId}/documents/${kept}`, { token });
    expect(answered.status).toBe(200);
    const uploaded = await apiAt(next.url).upload(orgId, token, text(2));
    expect((await api.processed(orgId, token, uploaded.body.document.doc_id)).status).toBe('indexed');
  });
});

describe('an API that is killed during a deletion', () => {
  it('an API that is killed during a deletion leaves the deletion to be completed later, and does not block other deletions', async () => {
    const { orgId, token } = await fresh();
    const ids = (await Promise.all([1, 2].map((n) => api.upload(orgId, token, text(n))))).map(
      ({ body }) => body.document.doc_id as string,
    );
    for (const id of ids) await api.processed(orgId, token, id);
    const [first, second] = ids.map((id) => `/orgs/${orgId}/documents/${id}`) as [string, string];
    await dying('removal stored', (by) => by.request('DELETE', first, { token }).catch(() => undefined));
    expect((await api.request('DELETE', second, { token })).status).toBe(200);
    expect((await api.request('DELETE', second, { token })).status).toBe(404);
    await until(async () => (await api.request('GET', first, { token })).status === 404, 'the document to be gone');
    await withDb(async (db) => {
      const left = async () =>
        Promise.all([
          db.collection('chunks').countDocuments({ org_id: orgId }),
          db.collection('files.files').countDocuments({ filename: { $in: ids } }),
          db.collection('removals').countDocuments({ org_id: orgId }),
        ]);
      await until(async () => (await left()).every((count) => count === 0), 'its traces to be gone');
    });
    expect((await api.upload(orgId, token, text(1))).status).toBe(201);
  });
});

describe('an API that is killed while it stores a crawl with its schedule', () => {
  it('after an API is killed while storing a crawl, a second request for the crawl gets 409 CRAWL_RUNNING', async () => {
    const { orgId, token } = await fresh();
    const body = { url: 'https://site.example/', options: { every_hours: 6 } };
    await dying('crawl stored', (by) =>
      by.request('POST', `/orgs/${orgId}/crawl`, { token, body }).catch(() => undefined),
    );
    const again = await api.request('POST', `/orgs/${orgId}/crawl`, { token, body });
    expect([again.status, again.body.code]).toEqual([409, 'CRAWL_RUNNING']);
    expect(await withDb((db) => db.collection('recrawls').countDocuments({ org_id: orgId }))).toBe(0);
  });
});
