/**
 * The situations that operators meet, and the commands `ops`. The real workflows with scripted activities bring about
 * each situation on the Temporal of the test run. Each test has organizations of its own.
 */
import { readFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { NativeConnection, Worker } from '@temporalio/worker';
import { connectMongo, disconnectMongo } from '../../models/base/connect.ts';
import { disableDestination } from '../../models/events/destination.ts';
import { breakIntegration, connectIntegration } from '../../models/integrations/integration.ts';
import { findSupportConfig } from '../../models/integrations/supportconfig.ts';
import { situations } from '../../workflows/base/situations.ts';
import { newState } from '../../models/rules/interviews/interview.ts';
import { searchAttributes } from '../../workflows/attributes.ts';
import { introduced } from '../../workflows/base/introduced.ts';
import type { WorkflowKind } from '../../workflows/base/kinds.ts';
import { runCli } from '../kit/cli.ts';
import { newFolder, systemEnv } from '../kit/processes.ts';
import { system, until } from '../kit/harness.ts';
import { world } from '../workflows/interviews/interviewworld.ts';

let connection: Connection;
let native: NativeConnection;
let client: Client;
let worker: Worker;
let running: Promise<void>;
const taskQueue = `ops-${randomUUID()}`;
let orgId: string;
let owner: { email: string; token: string };
let email: string;
/** A name for an organization that occurs in no other name. */
const name = `Ledger & Söhne ${randomUUID()}`;

const hour = 3_600_000;
const retrying = (kind: string) => ({
  kind: 'waiting',
  waitMs: hour,
  slow: false,
  shown: {
    deliveryId: 'dlv_1',
    kind,
    event: 'ticket.created',
    attempt: 3,
    attempts: 8,
    status: 503,
    nextAt: '2026-01-01T00:00:00Z',
  },
});
const overLimit = 'The configured language model is over its rate limit; try again later.';
const interview = world();
/** Whether the activity that reads the document `poison` has been repaired. */
let mended = false;
let ending: unknown;
const page = {
  url: 'https://a.example/',
  tally: { found: 0, waiting: 0, indexed: 0, unchanged: 0, skipped: 0, failed: 0 },
};

/** The scripted activities. The id in the first argument decides what happens to the workflow. */
const activities = {
  ...interview.activities,
  sendSome: async ({ line }: { line: string }) => retrying(line),
  crawlBatch: async ({ crawlId }: { crawlId: string }) =>
    crawlId === 'slow' ? { ...page, state: 'more', waitMs: hour } : { ...page, state: 'done' },
  finishCrawl: async (ref: { crawlId: string; ending: string }) => {
    ending = ref.ending;
    return ref.crawlId === 'slow' ? 'cancelled' : { failed: 'Its robots.txt does not admit this crawler.' };
  },
  advanceCall: async () => ({
    kind: 'waiting',
    awaited: 'member',
    withinMs: hour,
    about: { orgId, tool: 'refund', tier: 'admin_approve' },
  }),
  readDocument: async ({ docId }: { docId: string }) => {
    if (docId === 'unreadable') return { failed: 'The file is protected by a password.' };
    if (mended) return 'gone';
    // Temporal retries after ten hours, so an earlier attempt can only be an operator's retry.
    throw ApplicationFailure.create({ message: 'MongoServerError 11600', nextRetryDelay: '10 hours' });
  },
  attendTo: async () => ({ kind: 'done', modelFailed: overLimit }),
  embedSome: async () => {
    throw ApplicationFailure.create({ message: overLimit, nextRetryDelay: '10 hours' });
  },
};

const plant = (workflow: WorkflowKind, id: string, args: object): Promise<WorkflowHandle> =>
  client.workflow.start(workflow, {
    workflowId: `${id}:${orgId}`,
    taskQueue,
    args: [args],
    ...introduced(workflow, id, orgId, 'test'),
  });

/** The ids of this test's workflows that the query of a situation finds, without the organization. */
async function found(name: string, later = 0): Promise<string[]> {
  const query = situations.find((each) => each.name === name)!.query(new Date(Date.now() + later));
  const ids: string[] = [];
  for await (const { workflowId } of client.workflow.list({ query: `(${query}) AND \`Organization\` = "${orgId}"` }))
    ids.push(workflowId.replace(`:${orgId}`, ''));
  return ids.toSorted();
}

let env: Record<string, string> & { HOME: string };
async function ops(...args: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await runCli(['ops', ...args, '--json'], env);
  const printed = JSON.parse(code === 0 ? stdout : stderr) as Record<string, unknown>;
  return { ...printed, code };
}

beforeAll(async () => {
  const address = process.env['TEST_TEMPORAL_ADDRESS']!;
  connection = await Connection.connect({ address });
  // The first login creates the signing key, which the command decrypts to check the secret key.
  owner = await system().newUser();
  const made = await system().request('POST', '/orgs', { token: owner.token, body: { name } });
  orgId = (made.body as { data: { org_id: string } }).data.org_id;
  ({ email } = owner);
  client = new Client({ connection });
  native = await NativeConnection.connect({ address });
  worker = await Worker.create({
    connection: native,
    taskQueue,
    workflowBundle: { code: await readFile(process.env['TEST_WORKFLOW_BUNDLE']!, 'utf8') },
    activities,
  });
  running = worker.run();
  const { MONGODB_URI, DATA_DIR, SECRET_KEY } = systemEnv('shared') as Record<string, string>;
  env = {
    HOME: newFolder('home'),
    MONGODB_URI: MONGODB_URI!,
    DATA_DIR: DATA_DIR!,
    SECRET_KEY: SECRET_KEY!,
    TEMPORAL_ADDRESS: address,
  };
  await Promise.all([
    plant('sendLine', 'line', { orgId, line: 'webhook' }),
    plant('sendLine', 'mail', { orgId, line: 'email' }),
    plant('sendLine', 'slack', { orgId, line: 'slack' }),
    plant('crawlSite', 'crawl', { orgId, crawlId: 'dead' }),
    plant('toolCall', 'tool', { orgId, callId: 'call_1' }),
    plant('processDocument', 'unreadable', { orgId, docId: 'unreadable', generation: 1 }),
    plant('processDocument', 'poison', { orgId, docId: 'poison', generation: 1 }),
    plant('conversation', 'conversation', { orgId, convId: 'conv_1' }),
    plant('embedPassages', 'embed', { orgId, mode: 'test' }),
    plant('interview', 'interview', {
      orgId,
      interviewId: 'int_1',
      state: { ...newState([], undefined), status: 'bot_deployed', joiningSince: new Date().toISOString() },
    }),
  ]);
});

afterAll(async () => {
  for await (const { workflowId } of client.workflow.list({
    query: `\`Organization\` = "${orgId}" AND \`ExecutionStatus\` = "Running"`,
  }))
    await client.workflow.getHandle(workflowId).terminate();
  worker.shutdown();
  await running;
  await native.close();
  await connection.close();
});

describe('the situations of operators', () => {
  const later = 11 * 60_000;
  const planted = [
    ['stuck-delivery', ['line'], 0],
    ['mail-refused', ['mail'], 0],
    ['broken-integration', ['slack'], 0],
    ['failing-crawl', ['crawl'], 0],
    ['waiting-approval', ['tool'], 0],
    ['poisoned-document', ['poison', 'unreadable'], later],
    ['model-away', ['conversation'], 0],
    ['embedding-behind', ['embed'], later],
    ['nobody-joined', ['interview'], 0],
  ] as const;
  it.each(planted)(
    'the query of the situation %s finds exactly the workflows that are in that situation',
    async (name, expected, ms) => {
      await until(async () => (await found(name, ms)).length >= expected.length, `${name} to be found`);
      expect(await found(name, ms)).toEqual(expected);
    },
  );

  it('the query of the situation “flood” finds the open workflows that were started in the last five minutes', async () => {
    await until(async () => (await found('flood')).length >= 8, 'the open workflows to be found');
    expect(await found('flood')).toEqual(
      ['conversation', 'embed', 'interview', 'line', 'mail', 'poison', 'slack', 'tool'].toSorted(),
    );
    expect(await found('flood', 6 * 60_000)).toEqual([]);
  });

  it('the tests of this file cover each situation that `ops stuck` knows', () => {
    expect(situations.map(({ name }) => name).toSorted()).toEqual(
      [...planted.map(([name]) => name), 'flood'].toSorted(),
    );
  });
});

describe('ops', () => {
  it('ops org lists the open and the failed workflows of one organization in words', async () => {
    const { open, failed } = (await ops('org', orgId)) as unknown as { open: object[]; failed: object[] };
    expect(open).toContainEqual({
      id: `line:${orgId}`,
      summary: `Deliveries of line ${orgId} (webhook)`,
      status: 'retrying',
      since: expect.any(String),
      says: 'webhook: answered 503',
    });
    const one = (list: object[], id: string) => list.find((each) => (each as { id: string }).id === `${id}:${orgId}`);
    // The workflow's code does not learn of its activity's failed attempts, so `says` comes from Temporal.
    expect(one(open, 'poison')).toMatchObject({
      status: 'retrying',
      says: 'read the file and cut it into passages: MongoServerError 11600',
    });
    expect(one(open, 'conversation')).toMatchObject({ status: 'without_model', says: overLimit });
    expect(one(open, 'tool')).toMatchObject({
      status: 'waiting_member',
      says: expect.stringMatching(/^waits for a member to approve: refund, since .* until /),
    });
    expect(failed).toHaveLength(2);
    expect(one(failed, 'unreadable')).toMatchObject({ says: 'The file is protected by a password.' });
    expect(await ops('org', 'org" OR "1')).toMatchObject({
      code: 1,
      error: expect.stringContaining('No organization'),
    });
  });

  it('ops org finds an organization by a member’s e-mail address or a part of its name, and lists several that match', async () => {
    const found = { organization: { org_id: orgId, name } };
    expect(await ops('org', email.toUpperCase())).toMatchObject(found);
    expect(await ops('org', name.toUpperCase().slice(3))).toMatchObject(found);
    const none = { code: 1, error: expect.stringContaining('No organization has') };
    expect(await ops('org', 'nobody@ledger.example')).toMatchObject(none);
    expect(await ops('org', `${name}.*`)).toMatchObject(none);
    const other = await system().request('POST', '/orgs', { token: owner.token, body: { name: `${name} Beta` } });
    const otherId = (other.body as { data: { org_id: string } }).data.org_id;
    const { organizations } = await ops('org', email);
    expect(organizations).toHaveLength(2);
    expect(organizations).toEqual(
      expect.arrayContaining([orgId, otherId].map((org_id) => expect.objectContaining({ org_id }))),
    );
  });

  it('ops org names the destinations that are disabled and the integrations that are broken', async () => {
    expect(await ops('org', orgId)).toMatchObject({ organization: { name }, own_mail_server: false, not_working: [] });
    await connectMongo(env['MONGODB_URI']!);
    const { outbox_version: version } = await findSupportConfig(orgId);
    const at = new Date();
    await disableDestination({ org_id: orgId, mode: 'live', kind: 'webhook', version }, 'answered 410', at);
    const slack = await connectIntegration(orgId, 'slack', { account: 'Ledger', settings: {}, sealed: '' }, at);
    await breakIntegration(slack, 'token_revoked', at);
    await disconnectMongo();
    const since = at.toISOString();
    expect((await ops('org', orgId))['not_working']).toEqual([
      { provider: 'webhook', what: 'webhook (live)', status: 'disabled', since, reason: 'answered 410' },
      { provider: 'slack', what: 'slack', status: 'broken', since, reason: 'token_revoked' },
    ]);
  });

  it('`ops stuck` lists each kind of stuck work with its count, and `ops show` prints the name of the activity that fails', async () => {
    const {
      situations: seen,
      failing,
      busiest,
    } = (await ops('stuck')) as unknown as {
      busiest: { org_id: string; name: string; open: number; kinds: Record<string, number> }[];
      situations: { name: string; count: number; first: { id: string; summary: string }[] }[];
      failing: { activity: string; failed: string; count: number; first: { id: string }[] }[];
    };
    // Other tests share the server, so this organization may not be among the busiest.
    expect(busiest.length).toBeGreaterThan(0);
    expect(Object.values(busiest[0]!.kinds).reduce((sum, one) => sum + one, 0)).toBe(busiest[0]!.open);
    // A workflow is listed as failing after its first failed attempt.
    expect(failing).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          activity: 'read the file and cut it into passages',
          failed: 'MongoServerError 11600',
        }),
        expect.objectContaining({ failed: overLimit, count: 1 }),
      ]),
    );
    expect(failing.flatMap(({ first }) => first.map(({ id }) => id))).toEqual(
      expect.arrayContaining([`poison:${orgId}`, `embed:${orgId}`]),
    );
    const mail = seen.find(({ name }) => name === 'mail-refused')!.first.find(({ id }) => id === `mail:${orgId}`);
    expect(mail!.summary).toBe(`Deliveries of line ${orgId} (email)`);
    expect(seen.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['stuck-delivery', 'mail-refused', 'failing-crawl', 'model-away', 'nobody-joined']),
    );
    const shown = await ops('show', `poison:${orgId}`);
    expect(shown).toMatchObject({
      code: 0,
      does: 'Reads and indexes a document.',
      attempts: [{ activity: 'read the file and cut it into passages', attempt: 2, failed: 'MongoServerError 11600' }],
    });
    expect(shown).toMatchObject({ status: 'retrying', details: expect.stringContaining('| state | retrying |') });
    // The details in Temporal's UI point to this command, and the command does not point to itself.
    expect(shown['details']).not.toContain('ops show');
    const line = await ops('show', `line:${orgId}`);
    expect(line['details']).toContain('| failed last | webhook: answered 503 |');
    expect(line['details']).toContain(`GET /v1/support/outbox/orgs/${orgId}/deliveries/dlv_1`);
    // Deliveries of this line are retried, but they fail until somebody repairs the connection to Slack.
    const { not_working } = await ops('show', `slack:${orgId}`);
    expect(not_working).toMatchObject([{ what: 'slack', status: 'broken', reason: 'token_revoked' }]);
    // The table shows the failure, too, although the workflow does not know of it.
    expect(shown['details']).toContain(
      '| failed last | read the file and cut it into passages: MongoServerError 11600 |',
    );
  });

  it('ops retry retries at once an activity that would otherwise wait for hours, and the command is recorded', async () => {
    mended = true;
    expect(await ops('retry', `poison:${orgId}`)).toEqual({ code: 0, id: `poison:${orgId}`, said: 'It is tried now.' });
    expect(await client.workflow.getHandle(`poison:${orgId}`).result()).toBe('gone');
    expect(await ops('retry', `poison:${orgId}`)).toMatchObject({ code: 1, error: expect.stringContaining('ended') });
    const { operations } = (await ops('log')) as unknown as { operations: object[] };
    expect(operations).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ command: 'retry', target: `poison:${orgId}`, outcome: 'It is tried now.' }),
        expect.objectContaining({ command: 'show', target: `poison:${orgId}`, outcome: 'done' }),
        expect.objectContaining({ command: 'stuck', outcome: 'done' }),
        expect.objectContaining({
          target: `poison:${orgId}`,
          outcome: expect.stringContaining('failed: It has ended'),
        }),
      ]),
    );
  });

  it('ops cancel cancels a crawl, terminates the deliveries to one destination, and refuses a tool call with advice', async () => {
    const crawl = await plant('crawlSite', 'slow', { orgId, crawlId: 'slow' });
    await until(
      async () => (await crawl.fetchHistory()).events?.some((event) => event.timerStartedEventAttributes),
      'its pause',
    );
    expect(await ops('cancel', `slow:${orgId}`)).toMatchObject({ code: 0 });
    expect([await crawl.result(), ending]).toEqual(['cancelled', 'cancelled']);
    expect(await ops('cancel', `line:${orgId}`)).toMatchObject({ code: 0 });
    expect((await client.workflow.getHandle(`line:${orgId}`).describe()).status.name).toBe('TERMINATED');
    expect(await ops('cancel', `tool:${orgId}`)).toMatchObject({
      code: 1,
      error: 'A member denies the call, or disconnects the tool server.',
    });
    expect(await ops('cancel', 'document:none')).toMatchObject({ code: 1, error: expect.stringContaining('knows no') });
  });

  it('the ops command is refused without the secret key of the deployment', async () => {
    const own = env;
    env = { ...env, SECRET_KEY: 'f'.repeat(64) };
    expect(await ops('stuck')).toMatchObject({ code: 1, error: expect.stringContaining('SECRET_KEY is not the key') });
    env = own;
  });

  it('the operators’ page lists every situation that the ops command reports, with its query, its meaning and what to do', async () => {
    const text = await readFile(new URL('../../docs/operating.md', import.meta.url), 'utf8');
    for (const { title, query, means, mend } of situations) {
      // The document has `…` in place of each time.
      const said = query(new Date(0)).replaceAll(/"19[^"]+"/g, '"…"');
      for (const words of [title, said, means, mend]) expect(text).toContain(words.replaceAll('|', '\\|'));
    }
  });
});

it('the search attributes of a started workflow name its organization, mode and kind', async () => {
  const { typedSearchAttributes } = await client.workflow.getHandle(`mail:${orgId}`).describe();
  expect(typedSearchAttributes.get(searchAttributes.kind)).toBe('delivery');
  expect(typedSearchAttributes.get(searchAttributes.organization)).toBe(orgId);
  expect(typedSearchAttributes.get(searchAttributes.mode)).toBe('test');
});
