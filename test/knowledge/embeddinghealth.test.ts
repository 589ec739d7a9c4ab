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

/** Asks questions of an organization that knows nothing. */
async function asker(api: Api) {
  const org = await api.newOrg();
  const { token } = await api.newKey(org);
  return (query: string) =>
    api.request('POST', `/orgs/${org.orgId}/kb/query`, { token, body: { query, explain: true } });
}
const answers = async (api: Api): Promise<number> => (await (await asker(api))('Cards?')).status;

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
    const ask = await asker(api);
    const metric = async (name: string): Promise<number> => {
      const text = await (await fetch(`${api.url}/metrics`)).text();
      return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? 0);
    };
    const counted = async () => [
      await metric('embedding_texts_total\\{kind="question"\\}'),
      await metric('embedding_seconds_count\\{kind="question"\\}'),
    ];
    // On a busy machine a vector may take longer than a question waits; then another question is asked.
    let asked = 0;
    const made = await until(async () => {
      const before = await counted();
      const failed = await metric('embedding_failures_total\\{kind="question"\\}');
      const { status } = await ask(`Cards of kind ${(asked += 1)}?`);
      expect(status).toBe(200);
      if ((await metric('embedding_failures_total\\{kind="question"\\}')) > failed) return false;
      return (await counted()).map((count, at) => count - before[at]!);
    }, 'a question whose vectors come in time');
    // The message is read and its question searched by the same vectors.
    expect(made).toEqual([1, 1]);
    expect(await metric('embedding_processes_started_total\\{process="questions"\\}')).toBe(1);
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
    await until(async () => running.output().includes(`"reason":"${reason}"`), 'the log to say so');
  });
});
