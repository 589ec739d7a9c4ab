/** The index in an object store: two API processes and two workers share a bucket, and one of the workers is killed. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Finding } from '../../cli/operator/doctor.ts';
import { createSearch } from '../../clients/knowledge/search/search.ts';
import { readConfig } from '../../config.ts';
import { startVersitygw, type ObjectStore } from '../../engines/versitygw.ts';
import { runCli } from '../kit/cli.ts';
import { apiAt, until, type Api } from '../kit/harness.ts';
import { removeDataDir, startProcess, systemEnv, type Running, type SystemEnv } from '../kit/processes.ts';

const fleets = { FLEETS: 'documents,backlog,sources' };
let folder: string;
let store: ObjectStore;
let envs: SystemEnv[];
let apis: Running[];
let workers: Running[];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'support-s3-'));
  store = await startVersitygw({ folder: join(folder, 'buckets'), bucket: 'search', report: () => undefined });
  // Each process runs as if on a machine of its own: they share no folder.
  envs = Array.from({ length: 4 }, () => systemEnv('objectstore', store.env));
  const [one, two, three, four] = envs as [SystemEnv, SystemEnv, SystemEnv, SystemEnv];
  apis = await Promise.all([one, two].map((env) => startProcess('api/server.ts', env)));
  workers = await Promise.all([three, four].map((env) => startProcess('workers/main.ts', { ...env, ...fleets })));
});
afterAll(async () => {
  await Promise.all([...apis, ...workers].map((one) => one.stop()));
  await store.stop();
  await Promise.all(envs.map(removeDataDir));
  await rm(folder, { recursive: true, force: true });
});

it('both API processes find at once what any worker has indexed, and a killed worker loses no document', async () => {
  const [one, other] = apis.map(({ url }) => apiAt(url)) as [Api, Api];
  const org = await one.newOrg();
  const { token } = await one.newKey(org);
  const answers = async (api: Api, name: string): Promise<string> => {
    const body = { query: `How much is the ${name} card?` };
    const reply = await api.request('POST', `/orgs/${org.orgId}/kb/query`, { token, body });
    expect(reply.status).toBe(200);
    return reply.body.answer as string;
  };
  const upload = async (name: string, n: number): Promise<string> => {
    const { status, body } = await one.upload(org.orgId, token, {
      name: `${name}.md`,
      content: `The ${name} card costs ${n} EUR a year.`,
    });
    expect(status).toBe(201);
    return body.document.doc_id as string;
  };
  const names = ['gannet', 'puffin', 'petrel', 'fulmar', 'shearwater', 'guillemot', 'razorbill', 'kittiwake'];
  const ids = await Promise.all(names.map((name, n) => upload(name, 10 + n)));
  await until(async () => (await one.processed(org.orgId, token, ids[0]!)).status === 'indexed', 'the first document');
  await workers.shift()!.kill();
  for (const [n, name] of names.entries()) {
    expect((await other.processed(org.orgId, token, ids[n]!)).status).toBe('indexed');
    for (const api of [one, other]) expect(await answers(api, name)).toContain(`${10 + n} EUR`);
  }
  const removed = await other.request('DELETE', `/orgs/${org.orgId}/documents/${ids[0]}`, { token });
  expect(removed.status).toBe(200);
  for (const api of [one, other]) expect(await answers(api, 'gannet')).not.toContain('10 EUR');
});

it('the command `doctor` reads the index in the object store that the deployment uses', async () => {
  const { stdout } = await runCli(['doctor', '--json'], { HOME: folder, EMBEDDING: 'off', ...envs[0]! });
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  expect(findings.find(({ check }) => check === 'index')).toMatchObject({ state: 'ok' });
});

it('the check of the index reads the tables in the object store of the deployment, and a missing table is no damage', async () => {
  const { searchUri: uri, s3 } = readConfig(envs[0]!);
  const search = createSearch({ uri, s3 });
  const [words, missing] = [
    { org_id: 'org_checked', mode: 'test' },
    { org_id: 'org_missing', mode: 'test' },
  ] as const;
  const row = { id: 's:1:0', source_id: 's', generation: '1', segments: [], authority: 'normal', heading: '' } as const;
  try {
    await search.add(words, [{ ...row, text: 'The gannet card costs 10 EUR.' }]);
    await search.check(words);
    await search.check(missing);
  } finally {
    search.close();
  }
});
