/**
 * A deletion leaves no copy. Each test puts a unique word into a record in test mode, with everything that results from
 * it. After the deletion the word is searched in every collection, the files, the search index and Temporal.
 */
import { createHash, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connect } from '@lancedb/lancedb';
import { APIError } from 'openai';
import { pdfText } from '../kit/badpdfs.ts';
import { sharedDatabase, tracesIn } from '../kit/database.ts';
import { said, system, until, type TestOrg, type TestUser } from '../kit/harness.ts';
import { interviewing } from '../kit/interviewing.ts';
import { outboxOf } from '../kit/receiver.ts';
import { Guest } from '../kit/rooms.ts';
import { systemEnv } from '../kit/processes.ts';
import { temporalTraces } from '../kit/temporaltraces.ts';
import { searchAttributes } from '../../workflows/attributes.ts';
import { failed } from '../../clients/openai/failures.ts';
import { failureOf } from '../../workers/failures.ts';
import { defined } from '../../models/rules/base/defined.ts';

const api = system();
const db = sharedDatabase();
const kit = await interviewing(systemEnv('shared'));
let org: TestOrg & { key: string };
let bob: TestUser;
const began = new Date();

beforeAll(async () => {
  // Test mode stores everything that would be sent: ticket events to the webhook, and mails and Slack messages to
  // members.
  org = await outboxOf(api).newOrg('https://receiver.example/hook', { live: false });
  bob = await api.join(org);
  const slack_webhook_url = 'https://hooks.slack.com/services/T1/B1/x';
  await ok('PUT', `/orgs/${org.orgId}/webhooks`, { slack_webhook_url, email_notifications: true });
});
afterAll(() => kit.close());

const newWord = (): string => `w${randomUUID().replaceAll('-', '')}`;

/** Sends a request of the owner with an Idempotency-Key, so that its answer is stored. */
async function ok(method: string, path: string, body?: unknown, token = org.owner.token) {
  const headers = method === 'POST' ? { 'idempotency-key': randomUUID() } : {};
  const reply = await api.request(method, path, { token, headers, ...defined({ body }) });
  if (reply.status >= 300) throw new Error(`${method} ${path}: ${said(reply)}`);
  return reply.body.data ?? reply.body;
}

/** The collections that hold one of the texts, with the number of records. */
async function holders(texts: readonly string[]): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const name of await tracesIn(db(), texts)) found[name] = (found[name] ?? 0) + 1;
  return found;
}

/** The rows of the search index that contain the word. */
async function rowsWith(word: string): Promise<number> {
  const index = await connect(join(process.env['TEST_DATA_DIR']!, 'search'));
  let rows = 0;
  for (const name of await index.tableNames()) {
    const table = await index.openTable(name);
    if ((await table.schema()).fields.some((field) => field.name === 'text'))
      rows += await table.countRows(`text LIKE '%${word}%'`);
  }
  return rows;
}

const temporal = (word: string) => temporalTraces(kit.temporal, word, { orgIds: [org.orgId, org.owner.userId], began });

/** Waits until each of the collections holds the word. */
async function spread(word: string, collections: readonly string[]): Promise<void> {
  let last: Record<string, number> = {};
  await until(
    async () => {
      last = await holders([word]);
      return collections.every((name) => name in last);
    },
    () => `the word to be in ${collections.join(', ')}; it is in ${JSON.stringify(last)}`,
  );
}

/** Checks that neither the word nor a copy with one of the ids exists anywhere. */
async function nothingLeft(word: string, ids: readonly string[]): Promise<void> {
  const copies = ['notifications', 'deliveries', 'idempotency', 'links', 'inbound'];
  let last: unknown;
  await until(
    async () => {
      const [said, named] = [await holders([word]), await holders(ids)];
      last = { said, named };
      return Object.keys(said).length === 0 && copies.every((name) => (named[name] ?? 0) === 0);
    },
    () => `the word and its copies to be nowhere; they are in ${JSON.stringify(last)}`,
  );
  expect(await temporal(word)).toEqual([]);
}

/** The number of stored answers that name the id. */
const answersAbout = (id: string) => db().collection('idempotency').countDocuments({ about: id });

describe('deletions', () => {
  it('the deletion of a task leaves no copy of its data', async () => {
    const word = newWord();
    const { task_id: id } = await ok('POST', `/orgs/${org.orgId}/tasks`, {
      title: `Send ${word}`,
      description: `About ${word}.`,
      assigned_to: bob.userId,
    });
    const at = `/orgs/${org.orgId}/tasks/${id}`;
    const mail = { assignee_email: `${word}@example.com`, email_execution_enabled: true };
    await ok('PUT', at, { title: `Send all of ${word}`, status: 'in_progress', ...mail });
    await ok('POST', `${at}/execute`, {});
    await until(async () => (await ok('GET', `${at}/result`)).execution_status !== 'running', 'the execution');
    await ok('PUT', at, { status: 'completed' });
    await until(async () => {
      const told = await db()
        .collection('deliveries')
        .countDocuments({ about: id, event_type: 'task_completed', status: 'suppressed' });
      return told >= 2;
    }, 'everybody to be told that it is completed');
    await spread(word, ['tasks', 'notifications', 'deliveries']);
    expect(await answersAbout(id)).toBeGreaterThan(0);
    await ok('DELETE', at);
    await nothingLeft(word, [id]);
  });

  it('the deletion of a meeting leaves no copy of the meeting or of the tasks found in it', async () => {
    const word = newWord();
    const { meeting_id: id } = await ok('POST', '/meetings', { title: `Planning ${word}` });
    const text = `I will send the ${word} report by Friday.`;
    const segments = [{ id: 's1', speaker: bob.email, text, timestamp: new Date().toISOString() }];
    await ok('POST', `/meetings/${id}/transcript`, { segments });
    const { tasks } = await ok('POST', `/meetings/${id}/extract-tasks`, { org_id: org.orgId });
    expect(tasks).toHaveLength(1);
    await ok('GET', `/meetings/${id}/summary`);
    await ok('POST', `/meetings/${id}/end`);
    await until(
      async () => (await db().collection('deliveries').countDocuments({ about: id })) >= 2,
      'its end to be told',
    );
    await spread(word, ['meetings', 'transcript_segments', 'tasks', 'notifications', 'deliveries']);
    expect(await answersAbout(id)).toBeGreaterThan(0);
    await ok('DELETE', `/meetings/${id}`);
    await nothingLeft(word, [id, tasks[0].task_id]);
  });

  it('the deletion of a customer leaves no copy of the customer’s data', async () => {
    const word = newWord();
    const customer = { email: `${word}@customer.example`, name: `Ada ${word}`, externalCustomerId: `u-${word}` };
    const minted = await ok('POST', `/support/sessions/orgs/${org.orgId}/mint`, { customer }, org.key);
    const { customer_id: id, token } = minted;
    const { conv_id: convId } = await ok(
      'POST',
      `/support/chat/messages/${org.orgId}`,
      { body: `Where is my ${word}?` },
      token,
    );
    await spread(word, ['gaps']);
    const inbox = `/support/inbox/orgs/${org.orgId}/${convId}`;
    await ok('POST', `${inbox}/escalate`, { reason: `${word} called.` });
    await ok('POST', `${inbox}/reply`, { body: `Here it is, ${word}.` });
    await ok('POST', `${inbox}/resolve`, {});
    await until(async () => {
      const sent = await db().collection('deliveries').find({ about: id }).toArray();
      return sent.length >= 3 && sent.every(({ status }) => status === 'suppressed');
    }, 'the events of the ticket to be stored');
    await spread(word, ['customers', 'conversations', 'messages', 'frames', 'deliveries']);
    expect(await answersAbout(id)).toBeGreaterThan(0);
    const path = `/support/customers/orgs/${org.orgId}/${id}`;
    await ok('DELETE', path);
    await until(async () => (await ok('DELETE', path)).status !== 'erasing', 'the removal');
    await nothingLeft(word, [id, convId]);
  });

  it('the deletion of a document leaves no copy of its data', async () => {
    const word = newWord();
    const content = `# Opening hours of ${word}\n\nThe branch ${word} opens at nine o'clock on weekdays.\n`;
    const uploaded = await api.upload(
      org.orgId,
      org.key,
      { name: `${word}.md`, content },
      {},
      { 'idempotency-key': randomUUID() },
    );
    const id = uploaded.body.document.doc_id as string;
    await api.processed(org.orgId, org.key, id);
    const asked = await ok('POST', `/orgs/${org.orgId}/kb/query`, { query: `When does ${word} open?` }, org.key);
    expect(JSON.stringify(asked)).toContain(id);
    await spread(word, ['documents', 'chunks', 'files.chunks']);
    expect(await rowsWith(word)).toBeGreaterThan(0);
    expect(await answersAbout(id)).toBeGreaterThan(0);
    await ok('DELETE', `/orgs/${org.orgId}/documents/${id}`, undefined, org.key);
    await nothingLeft(word, [id]);
    await until(async () => (await rowsWith(word)) === 0, 'the rows to leave the index');
  });

  it('the deletion of an interview leaves no copy of its data', async () => {
    const word = newWord();
    const mine = `/orgs/${org.orgId}/interviews`;
    const { interview_id: id } = await ok('POST', mine, {
      role_title: `Engineer ${word}`,
      candidate_name: `Ana ${word}`,
      candidate_email: `${word}@candidate.example`,
      skills: [word],
      evaluation_criteria: [`Knows ${word}`],
      question_count: 1,
      // Because of the scheduled time, the system stores a mail to the candidate.
      scheduled_at: new Date(Date.now() + 3_600_000).toISOString(),
    });
    const form = new FormData();
    form.append('file', new Blob([new Uint8Array(pdfText([`Led ${word} for two million customers`]))]), `${word}.pdf`);
    const headers = { 'idempotency-key': randomUUID() };
    const resume = await api.request('POST', `${mine}/${id}/resume`, { token: org.owner.token, form, headers });
    expect([resume.status, resume.body.data?.candidate?.resume_error ?? null]).toEqual([200, null]);
    await ok('POST', `${mine}/${id}/start`);
    const { room } = await ok('GET', `${mine}/${id}`);
    const guest = await new Guest(room.candidate_url).connect(api.url);
    guest.send({ type: 'consent', accepted: true });
    await guest.frame('question');
    guest.say(`I led ${word} for two years, and it took half of the time afterwards.`);
    await guest.frame('ended');
    guest.drop();
    await until(async () => (await ok('GET', `${mine}/${id}`)).qa_summary, 'the summary');
    await ok('POST', `${mine}/${id}/generate-score`);
    await ok('PUT', `${mine}/${id}/decision`, { decision: 'hire', notes: `Because of ${word}.` });
    await ok('PUT', `${mine}/${id}/scorecard`, { criteria: {}, notes: `Knows ${word}.` });
    await spread(word, ['interviews', 'resumes', 'rooms', 'transcript_segments', 'frames', 'deliveries']);
    expect(await answersAbout(id)).toBeGreaterThan(0);
    await ok('DELETE', `${mine}/${id}`);
    await nothingLeft(word, [id]);
  });
});

describe('the stored failure of an activity', () => {
  it('Temporal stores the name, code and place of a failure, but never its message', () => {
    class Refused extends Error {
      override readonly name = 'MongoServerError';
      readonly code = 11_000;
    }
    const error = new Refused('E11000 duplicate key: { email: "ada@example.com" }', { cause: new Error('ada') });
    const { message, stack, type, cause } = failureOf(error);
    expect([message, type, cause]).toEqual([
      "MongoServerError 11000; the worker's log has the whole error.",
      'MongoServerError',
      undefined,
    ]);
    expect(stack).toContain('erasing.test.ts');
    expect(`${message}${stack}`).not.toContain('ada');
  });

  it('the failure that Temporal stores names the server that is down', () => {
    const error = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:27017'), { name: 'MongoNetworkError' });
    expect(failureOf(error).message).toBe('connect ECONNREFUSED 127.0.0.1:27017');
  });

  it('the failure that Temporal stores says how a model failed, but contains no text from the model’s endpoint', () => {
    const refused = new APIError(429, undefined, 'too much of ada@example.com', new Headers());
    const { message, cause } = failureOf(failed(refused, 'embedding model (OPENAI_EMBEDDING_MODEL)'));
    expect([message, cause]).toEqual([
      'The configured embedding model (OPENAI_EMBEDDING_MODEL) is over its rate limit; try again later.',
      undefined,
    ]);
  });
});

it('the search that these tests use finds a word deep inside a record and in Temporal', async () => {
  const word = newWord();
  const hash = createHash('sha256').update(word).digest('hex');
  await db()
    .collection('planted')
    .insertOne({ deep: [{ in: { a: Buffer.from(`xx${word}`) } }] });
  expect([await holders([word]), await holders([hash])]).toEqual([{ planted: 1 }, {}]);
  await db().collection('planted').drop();
  await kit.temporal.workflow.start('nobody', {
    workflowId: randomUUID(),
    taskQueue: 'nobody',
    args: [{ deep: word }],
    workflowExecutionTimeout: '1 minute',
    typedSearchAttributes: [{ key: searchAttributes.organization, value: org.orgId }],
  });
  // Temporal may list this workflow later than those of the other tests in this file.
  await until(async () => (await temporal(word)).length === 1, 'the trace to be found');
});
