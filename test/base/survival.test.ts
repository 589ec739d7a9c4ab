/** Accepted work is finished although processes are killed at any point and Temporal goes down. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import mongoose from 'mongoose';
import type { Fault } from '../kit/worker.ts';
import { apiAt, until } from '../kit/harness.ts';
import { deathOf, removeDataDir, startProcess, systemEnv, type Running, type SystemEnv } from '../kit/processes.ts';
import { startApi } from '../../api/server.ts';
import { createSearch } from '../../clients/knowledge/search/search.ts';
import { walked } from '../kit/database.ts';
import { readConfig } from '../../config.ts';

const running: Running[] = [];
const envs: SystemEnv[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((process) => process.stop()));
  await Promise.all(envs.splice(0).map(removeDataDir));
});

async function start(program: string, env: SystemEnv): Promise<Running> {
  const process = await startProcess(program, env);
  running.push(process);
  return process;
}

function newSystem(name: string, extra?: Record<string, string>): SystemEnv {
  const env = systemEnv(name, extra);
  envs.push(env);
  return env;
}

/** What MongoDB and the index actually hold of each document. */
async function stored(env: SystemEnv, orgId: string) {
  const db = walked(await mongoose.createConnection(env['MONGODB_URI']!).asPromise());
  const search = createSearch({ uri: join(env.DATA_DIR, 'search') });
  try {
    const documents = await db.collection('documents').find({ org_id: orgId }).toArray();
    const chunks = await db.collection('chunks').find({ org_id: orgId }).toArray();
    const rows = await search.listSources({ org_id: orgId, mode: 'test' });
    return documents.map((d) => ({
      status: d['status'] as string,
      chunk_count: d['chunk_count'] as number,
      pending: ((d['pending'] as unknown[] | undefined) ?? []).length,
      chunks: chunks.filter((c) => c['source_id'] === (d._id as unknown as string)).length,
      rows: rows.filter((r) => r.source_id === (d._id as unknown as string)).map((r) => r.chunks),
    }));
  } finally {
    search.close();
    await db.close();
  }
}

const faults: Fault[] = [
  'before claim',
  'claimed',
  'extracted',
  'chunks stored',
  'before index',
  'in the index',
  'published',
];

describe('a worker killed in each step of a document', () => {
  it('a document whose worker is killed at any step is indexed exactly once by another worker', async () => {
    const env = newSystem('workerkill', { FLEETS: 'documents,backlog' });
    const api = apiAt((await start('api/server.ts', env)).url);
    const org = await api.newOrg();
    const { token } = await api.newKey(org);
    const help = await readFile(new URL('../fixtures/help.md', import.meta.url), 'utf8');

    const ids: string[] = [];
    for (const fault of faults) {
      const { status, body } = await api.upload(org.orgId, token, {
        name: 'help.md',
        content: `${help}\n\nKilled: ${fault}.`,
      });
      expect(status).toBe(201);
      ids.push(body.document.doc_id);
      expect([fault, await deathOf(startProcess('test/kit/worker.ts', { ...env, FAULT: fault }))]).toEqual([
        fault,
        'SIGKILL',
      ]);
    }

    await start('test/kit/worker.ts', env);
    for (const id of ids) expect((await api.processed(org.orgId, token, id)).status).toBe('indexed');
    // The last steps after publishing (deleting old rows, settling the intent) end shortly after.
    const clean = await until(async () => {
      const found = await stored(env, org.orgId);
      return found.every((d) => d.pending === 0 && d.rows.length === 1) && found;
    }, 'the intents to be settled and the index to hold each document once');
    expect(clean).toHaveLength(faults.length);
    for (const document of clean) {
      expect(document.chunk_count).toBeGreaterThan(0);
      expect(document).toMatchObject({ status: 'indexed', chunks: document.chunk_count, rows: [document.chunk_count] });
    }
  });
});

describe('an API killed between saving a document and starting its workflow', () => {
  it('a document is indexed even when the API process dies after storing the document and before starting its workflow', async () => {
    const env = newSystem('apikill', { FLEETS: 'documents,backlog' });
    const sound = apiAt((await start('api/server.ts', env)).url);
    const org = await sound.newOrg();
    const { token } = await sound.newKey(org);

    const faulty = await startProcess('test/kit/faulty-api.ts', env);
    const death = once(faulty.child, 'exit');
    await expect(
      apiAt(faulty.url).upload(org.orgId, token, { name: 'a.md', content: 'The gannet card is blue.' }),
    ).rejects.toThrow();
    expect((await death)[1]).toBe('SIGKILL');
    expect(await stored(env, org.orgId)).toMatchObject([{ status: 'uploaded', pending: 1 }]);

    await start('test/kit/worker.ts', env);
    const [document] = (await sound.request('GET', `/orgs/${org.orgId}/documents`, { token })).body.documents;
    expect((await sound.processed(org.orgId, token, document.doc_id)).status).toBe('indexed');
    const { body } = await sound.request('POST', `/orgs/${org.orgId}/kb/query`, {
      token,
      body: { query: 'Which colour is the gannet card?' },
    });
    expect(body.answer).toContain('blue');
  });
});

describe('while Temporal is down', () => {
  it('a document that is uploaded while Temporal is down is accepted, and is indexed later', async () => {
    const env = newSystem('away', { FLEETS: 'documents,backlog' });
    // Port 9 (discard) is closed, so Temporal is down for this API. The worker below reaches Temporal.
    const api = apiAt((await start('api/server.ts', { ...env, TEMPORAL_ADDRESS: '127.0.0.1:9' })).url);
    const org = await api.newOrg();
    const { token } = await api.newKey(org);
    // On a busy machine MongoDB may take longer to answer than the check waits.
    const health = await until(async () => {
      const reply = await api.request('GET', '/health/ready');
      return reply.body.mongo === 'ok' && reply;
    }, 'MongoDB to answer');
    expect([health.status, health.body]).toEqual([
      503,
      { status: 'down', mongo: 'ok', temporal: 'down', embedding: { state: 'off' } },
    ]);
    // A balancer goes on sending requests to this API.
    expect((await api.request('GET', '/health/serving')).status).toBe(200);
    const { status, body } = await api.upload(org.orgId, token, {
      name: 'a.md',
      content: 'The puffin loan runs ten years.',
    });
    expect(status).toBe(201);
    await start('test/kit/worker.ts', env);
    expect((await api.processed(org.orgId, token, body.document.doc_id)).status).toBe('indexed');
  });
});

describe('SIGTERM', () => {
  it('on SIGTERM an API finishes its running request and then ends cleanly', async () => {
    const env = newSystem('drain');
    // The process has its own temporary folder, so that the test sees only this upload.
    const process = await startProcess('api/server.ts', { ...env, TMPDIR: env.DATA_DIR });
    const api = apiAt(process.url);
    const org = await api.newOrg();
    const { token } = await api.newKey(org);
    let release!: () => void;
    const held = new Promise<void>((resolve) => (release = resolve));
    const form = [
      '--x\r\ncontent-disposition: form-data; name="file"; filename="a.md"\r\n\r\nThe tern ',
      'fund is small.\r\n--x--\r\n',
    ];
    const slow = new ReadableStream({
      async start(controller) {
        controller.enqueue(Buffer.from(form[0]!));
        await held;
        controller.enqueue(Buffer.from(form[1]!));
        controller.close();
      },
    });
    const answer = fetch(`${api.url}/v1/orgs/${org.orgId}/documents`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'multipart/form-data; boundary=x' },
      body: slow,
      duplex: 'half',
    });
    await until(
      async () => (await readdir(env.DATA_DIR)).some((name) => name.startsWith('upload-')),
      'the upload to arrive',
    );
    const stopped = process.stop();
    await until(
      async () => !(await fetch(`${api.url}/health/live`).catch(() => undefined)),
      'new requests to be refused',
    );
    release();
    expect((await answer).status).toBe(201);
    await stopped;
  });

  it('an API that is stopping still answers a request that has already arrived on an idle connection', async () => {
    const api = await startApi(readConfig(newSystem('unread')));
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1').setEncoding('utf8');
    const ask = 'GET /health/live HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n';
    socket.write(ask);
    await once(socket, 'data');
    // The kernel has the request at once; this process, which is the server too, reads it in a later turn.
    socket.write(ask);
    const closed = api.close();
    let answer = '';
    for await (const piece of socket) answer += String(piece);
    expect(answer).toMatch(/^HTTP\/1.1 200 [^]*connection: close/i);
    await closed;
  });
});
