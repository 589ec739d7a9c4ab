/** `npm run doctor` at the system of the test run, with one thing wrong at a time. */
import { randomBytes, randomUUID } from 'node:crypto';
import { beforeAll, expect, it } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import type { Finding } from '../../cli/operator/doctor.ts';
import { freePort } from '../../engines/ports.ts';
import { maintainStoresWork } from '../../models/rules/knowledge/work.ts';
import { ensureSchedules } from '../../workers/schedules.ts';
import { encryptionOf } from '../../workflows/encryption.ts';
import { runCli } from '../kit/cli.ts';
import { system } from '../kit/harness.ts';
import { json, serving } from '../kit/listening.ts';
import { newFolder, systemEnv } from '../kit/processes.ts';

const home = newFolder('doctor');
let nowhere: string;
beforeAll(async () => {
  nowhere = `127.0.0.1:${await freePort()}`;
  // The first login creates the signing key, which the doctor decrypts to check the secret key.
  await system().newUser();
});

/** The findings that are not `ok`, and the exit code. */
async function examine(changed: Record<string, string> = {}) {
  const { MONGODB_URI, TEMPORAL_ADDRESS, TASK_QUEUE_PREFIX, SECRET_KEY } = systemEnv('shared');
  const DATA_DIR = process.env['TEST_DATA_DIR'];
  const own = { DATA_DIR, MONGODB_URI, TEMPORAL_ADDRESS, TASK_QUEUE_PREFIX, SECRET_KEY, PUBLIC_URL: system().url };
  const env = { HOME: home, EMBEDDING: 'off', ...(own as Record<string, string>), ...changed };
  const { code, stdout } = await runCli(['doctor', '--json'], env);
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  return { code, found: findings.filter(({ state }) => state !== 'ok'), all: findings };
}

it('the doctor reports nothing wrong in a healthy deployment, and lists what it checked', async () => {
  const { code, found, all } = await examine();
  expect(found.map(({ check, state }) => [check, state])).toEqual([['embedding', 'warning']]);
  expect(code).toBe(0);
  expect([...new Set(all.map(({ check }) => check))]).toEqual([
    'configuration',
    'MongoDB',
    'clock',
    'secret',
    'Temporal',
    'search attributes',
    'schedules',
    'fleets',
    'disk',
    'index',
    'API',
    'embedding',
    'model',
    'mail',
  ]);
});

it.each([
  ['the configuration', { PORT: 'many' }, 'configuration', /PORT/],
  ['another secret key', { SECRET_KEY: 'f'.repeat(64) }, 'secret', /does not open/],
  ['a namespace that is missing', { TEMPORAL_NAMESPACE: 'nowhere' }, 'Temporal', /no namespace nowhere/],
  ['an index that cannot be read', { SEARCH_URI: '/dev/null/search' }, 'index', /null/],
])('the doctor reports %s as wrong, with what to do, and exit code 1', async (_what, changed, check, said) => {
  const { code, found } = await examine(changed);
  expect(code).toBe(1);
  const finding = found.find((each) => each.check === check && each.state === 'wrong');
  expect(finding).toMatchObject({ said: expect.stringMatching(said), mend: expect.stringMatching(/\w{3}/) });
});

it('the doctor reads the schedules of a deployment that encrypts what it gives to Temporal, after a change of the secret key, too', async () => {
  const { TEMPORAL_ADDRESS: address } = systemEnv('shared');
  // The deployment has this key no more.
  const secretKeys = [randomBytes(32)] as const;
  const prefix = `doctor-${randomUUID()}-`;
  const connection = await Connection.connect({ address: address! });
  const client = new Client({ connection, ...encryptionOf({ encryptsPayloads: true, secretKeys }) });
  await ensureSchedules(client, prefix);
  try {
    const { all } = await examine({ TASK_QUEUE_PREFIX: prefix, TEMPORAL_PAYLOADS: 'encrypted' });
    expect(all.find(({ check }) => check === 'Temporal')).toMatchObject({ state: 'ok' });
    expect(all.find(({ check }) => check === 'schedules')).toMatchObject({ state: 'ok' });
  } finally {
    await client.schedule.getHandle(`${prefix}${maintainStoresWork().id}`).delete();
    await connection.close();
  }
});

it('the doctor names servers that do not answer: MongoDB, Temporal, the API, the embedding service, the model and mail', async () => {
  const closed = await examine({
    MONGODB_URI: `mongodb://${nowhere}/none`,
    TEMPORAL_ADDRESS: nowhere,
    PUBLIC_URL: `http://${nowhere}`,
    EMBEDDING: `http://${nowhere}`,
    OPENAI_BASE_URL: `http://${nowhere}/v1`,
    OPENAI_MODEL: 'any',
    SMTP_URL: `smtp://${nowhere}`,
    MAIL_FROM: 'Bank <help@bank.example>',
  });
  expect(closed.code).toBe(1);
  const wrong = closed.found.filter(({ state }) => state === 'wrong').map(({ check }) => check);
  expect(wrong).toEqual(['MongoDB', 'Temporal', 'API', 'model', 'mail']);
  expect(closed.found.find(({ check }) => check === 'embedding')?.said).toContain(nowhere);
});

it('the doctor reports each fleet that has no running worker, and the missing schedules', async () => {
  const { found } = await examine({ TASK_QUEUE_PREFIX: 'nobody-' });
  expect(found.filter(({ check }) => check === 'fleets')).toHaveLength(13);
  expect(found.find(({ check }) => check === 'fleets')?.mend).toMatch(/npm run worker -- --fleet documents/);
  expect(found.map(({ check }) => check)).toContain('schedules');
});

it.each<[string, Record<string, string>, string, Finding['state'], RegExp]>([
  ['that OPENAI_MODEL is not set', {}, 'model', 'warning', /OPENAI_MODEL is not set/],
  [
    'that answers are quoted where the endpoint makes vectors alone',
    { OPENAI_EMBEDDING_MODEL: 'e' },
    'model',
    'ok',
    /OPENAI_MODEL is not set/,
  ],
  [
    'that OPENAI_EMBEDDING_MODEL makes the vectors where EMBEDDING is off',
    { OPENAI_EMBEDDING_MODEL: 'e' },
    'embedding',
    'ok',
    /OPENAI_EMBEDDING_MODEL makes the vectors/,
  ],
  [
    'that local models are missing where OPENAI_EMBEDDING_MODEL has no endpoint',
    { OPENAI_EMBEDDING_MODEL: 'e', OPENAI_BASE_URL: '', EMBEDDING: home },
    'embedding',
    'warning',
    /is missing/,
  ],
])('the doctor says of the models %s', async (_what, changed, check, state, said) => {
  const endpoint = await serving((_request, response) => json(response, 200, { data: [{ id: 'e' }] }));
  try {
    const { all } = await examine({ OPENAI_BASE_URL: `${endpoint.url}/v1`, ...changed });
    expect(all.filter((each) => each.check === check)).toMatchObject([{ state, said: expect.stringMatching(said) }]);
  } finally {
    await endpoint.close();
  }
});
