/**
 * `/health/ready` and the log of a real API process report the state of the embedding models; without the models the
 * API still serves.
 */
import { afterEach, describe, expect, it } from '@jest/globals';
import { apiAt, system, until, type Api } from '../kit/harness.ts';
import {
  removeDataDir,
  startProcess,
  systemEnv,
  withEmbedding,
  type Running,
  type SystemEnv,
} from '../kit/processes.ts';

/**
 * Returns the health of an API once its models are in this state. Polls until the status is 200, because on a busy
 * machine MongoDB and Temporal may exceed their time limit of one second.
 */
const healthOnce = async (api: Api, state: string) =>
  until(async () => {
    const { status, body } = await api.request('GET', '/health/ready');
    return status === 200 && body.embedding.state === state && { status, body };
  }, `embedding to be ${state}`);

/** Asks questions in an organization without documents. */
async function asker(api: Api) {
  const org = await api.newOrg();
  const { token } = await api.newKey(org);
  return (query: string) =>
    api.request('POST', `/orgs/${org.orgId}/kb/query`, { token, body: { query, explain: true } });
}
const answers = async (api: Api): Promise<number> => (await (await asker(api))('Cards?')).status;

it('GET /health/ready reports the embedding state `off` with EMBEDDING=off', async () => {
  // The API that all tests share runs with EMBEDDING=off.
  const api = system();
  expect(await healthOnce(api, 'off')).toMatchObject({ status: 200, body: { status: 'ok' } });
  expect(await answers(api)).toBe(200);
});

describe('GET /health/ready of an API with embedding models', () => {
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

  it('GET /health/ready reports the embedding state `ready` once a process has loaded the models', async () => {
    const api = await start('embedding-ready', withEmbedding());
    const { status, body } = await healthOnce(api, 'ready');
    expect([status, body.embedding]).toEqual([200, { state: 'ready' }]);
    const ask = await asker(api);
    const metric = async (name: string): Promise<number> => {
      const text = await (await fetch(`${api.url}/metrics`)).text();
      return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? 0);
    };
    const counted = async () => [
      await metric('embedding_texts_total\\{kind="question"\\}'),
      await metric('embedding_seconds_count\\{kind="question"\\}'),
    ];
    // On a busy machine an embedding may take longer than a question waits; then another question is asked.
    let asked = 0;
    const made = await until(async () => {
      const before = await counted();
      const failed = await metric('embedding_failures_total\\{kind="question"\\}');
      const { status } = await ask(`Cards of kind ${(asked += 1)}?`);
      expect(status).toBe(200);
      if ((await metric('embedding_failures_total\\{kind="question"\\}')) > failed) return false;
      return (await counted()).map((count, at) => count - before[at]!);
    }, 'a question whose vectors come in time');
    // Classifying the message and searching its question use the same embeddings.
    expect(made).toEqual([1, 1]);
    expect(await metric('embedding_processes_started_total\\{process="questions"\\}')).toBe(1);
  });

  it('GET /health/ready reports the embedding state `failed` with the reason when the models are missing, and the API still answers', async () => {
    const api = await start('embedding-failed', { EMBEDDING: '/nowhere' });
    const { status, body } = await healthOnce(api, 'failed');
    const reason = '/nowhere/me5/model.onnx, a part of an embedding model, is missing.';
    expect([status, body]).toEqual([
      200,
      { status: 'ok', mongo: 'ok', temporal: 'ok', embedding: { state: 'failed', reason } },
    ]);
    expect(await answers(api)).toBe(200);
    await until(async () => running.output().includes(`"reason":"${reason}"`), 'the log to say so');
  });
});
