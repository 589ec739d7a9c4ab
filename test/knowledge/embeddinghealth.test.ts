/** What a real API process says about the embedding models: without them it serves all the same, and `/health/ready` and the log say why. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { apiAt, until, type Api } from '../kit/harness.ts';
import {
  removeDataDir,
  startProcess,
  systemEnv,
  withEmbedding,
  type Running,
  type SystemEnv,
} from '../kit/processes.ts';

let running: Running;
let env: SystemEnv;
afterEach(async () => {
  await running.stop();
  await removeDataDir(env);
});

async function start(name: string, settings: Record<string, string>): Promise<Api> {
  env = systemEnv(name, settings);
  running = await startProcess('api/server.ts', env);
  return apiAt(running.url);
}

/** The health of an API whose models are in this state; MongoDB and Temporal may take more than its second on a busy machine. */
const healthOnce = async (api: Api, state: string) =>
  until(async () => {
    const { status, body } = await api.request('GET', '/health/ready');
    return status === 200 && body.embedding.state === state && { status, body };
  }, `embedding to be ${state}`);

async function answers(api: Api): Promise<number> {
  const org = await api.newOrg();
  const { token } = await api.newKey(org);
  const { status } = await api.request('POST', `/orgs/${org.orgId}/kb/query`, { token, body: { query: 'Cards?' } });
  return status;
}

describe('GET /health/ready', () => {
  it('EMBEDDING=off: says so', async () => {
    const api = await start('embedding-off', {});
    expect(await healthOnce(api, 'off')).toMatchObject({ status: 200, body: { status: 'ok' } });
    expect(await answers(api)).toBe(200);
  });

  it('with the models: ready as soon as a process has opened them', async () => {
    const api = await start('embedding-ready', withEmbedding());
    const { status, body } = await healthOnce(api, 'ready');
    expect([status, body.embedding]).toEqual([200, { state: 'ready' }]);
    expect(await answers(api)).toBe(200);
    const metrics = await (await fetch(`${api.url}/metrics`)).text();
    // The message was read, then its question was searched; one before them may have opened the models.
    expect(metrics).toMatch(/^embedding_texts_total\{kind="question"\} [23]$/m);
    expect(metrics).toMatch(/^embedding_seconds_count\{kind="question"\} [23]$/m);
    expect(metrics).toContain('embedding_processes_started_total{process="questions"} 1');
  });

  it('without them: the API is ready and answers, and the reason is here and in the log', async () => {
    const api = await start('embedding-failed', { EMBEDDING: 'embedded', EMBEDDING_FOLDER: '/nowhere' });
    const { status, body } = await healthOnce(api, 'failed');
    const reason = '/nowhere/me5/model.onnx, a part of an embedding model, is missing.';
    expect([status, body]).toEqual([
      200,
      { status: 'ok', mongo: 'ok', temporal: 'ok', embedding: { state: 'failed', reason } },
    ]);
    expect(await answers(api)).toBe(200);
    expect(running.output()).toContain(`"reason":"${reason}"`);
  });
});
