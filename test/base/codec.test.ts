/** A system that encrypts what it gives to Temporal, and the endpoint at which operators read it. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { runCli } from '../kit/cli.ts';
import { apiAt, type Api } from '../kit/harness.ts';
import { newFolder, removeDataDir, startProcess, systemEnv, type Running, type SystemEnv } from '../kit/processes.ts';

const ui = 'https://temporal.example';
/** This test has a namespace of its own, because other tests that list workflows have no key to decrypt these. */
const namespace = `codec-${randomUUID()}`;
let env: SystemEnv;
let running: Running[];
let api: Api;
let connection: Connection;
beforeAll(async () => {
  const SERVICE_URLS = `temporal_ui=${ui}`;
  env = systemEnv('codec', { TEMPORAL_PAYLOADS: 'encrypted', SERVICE_URLS, TEMPORAL_NAMESPACE: namespace });
  connection = await Connection.connect({ address: env['TEMPORAL_ADDRESS']! });
  const workflowExecutionRetentionPeriod = { seconds: 86_400 as never };
  await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
  running = await Promise.all([
    startProcess('api/server.ts', env),
    startProcess('workers/main.ts', { ...env, FLEETS: 'documents,backlog,sources' }),
  ]);
  api = apiAt(running[0]!.url);
});
afterAll(async () => {
  await connection.close();
  await Promise.all(running.map((process) => process.stop()));
  await removeDataDir(env);
});

/** The link of `ops login`, at the API of this test. */
async function loginLink(): Promise<string> {
  const { stdout } = await runCli(['ops', 'login', '--json'], { ...env, HOME: newFolder('home') });
  const { link } = JSON.parse(stdout) as { link: string };
  return link.replace(/^http:\/\/[^/]+/, api.url);
}
const decode = (payloads: unknown, headers: Record<string, string> = {}) =>
  fetch(`${api.url}/codec/decode`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: ui, ...headers },
    body: JSON.stringify({ payloads }),
  });

it('Temporal stores the arguments of a document’s workflow encrypted, and only an operator can decrypt them', async () => {
  const org = await api.newOrg();
  const { token } = await api.newKey(org);
  const { body } = await api.upload(org.orgId, token, { name: 'a.md', content: 'A gannet card costs 12 EUR.' });
  const document = await api.processed(org.orgId, token, body.document.doc_id);
  expect(document.status).toBe('indexed');
  const handle = new Client({ connection, namespace }).workflow.getHandle(`document:${document.doc_id}`);
  const { events } = await handle.fetchHistory();
  const [input] = events![0]!.workflowExecutionStartedEventAttributes!.input!.payloads!;
  const wire = {
    metadata: Object.fromEntries(
      Object.entries(input!.metadata!).map(([name, value]) => [name, Buffer.from(value).toString('base64')]),
    ),
    data: Buffer.from(input!.data!).toString('base64'),
  };
  expect(Buffer.from(input!.metadata!['encoding']!).toString()).toBe('binary/encrypted');

  const refused = await decode([wire]);
  expect(refused.status).toBe(401);
  const login = await fetch(await loginLink());
  expect(login.status).toBe(200);
  const cookie = login.headers.get('set-cookie')!;
  expect(cookie).toMatch(/HttpOnly/i);
  const shown = await decode([wire], { cookie: cookie.split(';')[0]! });
  expect(shown.headers.get('access-control-allow-origin')).toBe(ui);
  const { payloads } = (await shown.json()) as { payloads: { data: string }[] };
  expect(JSON.parse(Buffer.from(payloads[0]!.data, 'base64').toString())).toMatchObject({
    orgId: org.orgId,
    docId: document.doc_id,
  });
});

it('the codec endpoint, which decrypts payloads for the Temporal UI, refuses API keys, forged logins and other origins', async () => {
  const org = await api.newOrg();
  const { token } = await api.newKey(org);
  for (const proof of [token, org.owner.token, `${Date.now() + 1e6}~abc.def`, ''])
    expect((await decode([], { authorization: `Bearer ${proof}` })).status).toBe(401);
  expect((await fetch(`${api.url}/codec/login?proof=${Date.now() + 1e6}~abc.def`)).status).toBe(401);
  const cookie = (await fetch(await loginLink())).headers.get('set-cookie')!.split(';')[0]!;
  expect((await decode('none', { cookie })).status).toBe(400);
  const encoding = Buffer.from('binary/encrypted').toString('base64');
  const other = { metadata: { encoding, 'encryption-key-id': Buffer.from('0f').toString('base64') }, data: '' };
  const unreadable = await decode([other], { cookie });
  expect([unreadable.status, (await unreadable.json()) as object]).toEqual([
    400,
    expect.objectContaining({ error: expect.stringContaining('key 0f, which is not configured') }),
  ]);
  const elsewhere = await decode([], { cookie, origin: 'https://evil.example' });
  expect(elsewhere.headers.get('access-control-allow-origin')).toBeNull();
  // The proof in a login link is not accepted as a session.
  const proof = new URL(await loginLink()).searchParams.get('proof')!;
  expect((await decode([], { authorization: `Bearer ${proof}` })).status).toBe(401);
});
