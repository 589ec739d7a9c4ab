/**
 * An organization that uploads many documents does not block the queue `documents` for others: its further documents go
 * to the queue `backlog`.
 */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { sharedDatabase } from '../kit/database.ts';
import { system, type TestOrg } from '../kit/harness.ts';

const api = system();
const db = sharedDatabase();
let connection: Connection;
beforeAll(async () => {
  connection = await Connection.connect({ address: process.env['TEST_TEMPORAL_ADDRESS']! });
});
afterAll(() => connection.close());

async function fresh() {
  const org = await api.newOrg();
  return { org, token: (await api.newKey(org)).token };
}

async function indexed({ orgId }: TestOrg, token: string, content: string): Promise<string> {
  const { body } = await api.upload(orgId, token, { name: 'note.md', content });
  const { doc_id: docId, status } = await api.processed(orgId, token, body.document.doc_id);
  expect(status).toBe('indexed');
  return docId;
}

/** The task queues on which a generation of a document was read and indexed, in order. */
async function queuesOf(docId: string, generation = 1): Promise<string[]> {
  const workflowId = generation === 1 ? `document:${docId}` : `document:${docId}:${generation}`;
  const { events } = await new Client({ connection }).workflow.getHandle(workflowId).fetchHistory();
  return events!.flatMap(({ activityTaskScheduledEventAttributes: scheduled }) => {
    const name = scheduled?.taskQueue?.name;
    return name == null ? [] : [name.slice(name.lastIndexOf('-') + 1)];
  });
}

it('a document is processed in the backlog queue while another document of its organization is being processed', async () => {
  const { org, token } = await fresh();
  const first = await indexed(org, token, 'The curlew tariff costs nine euros.');
  expect(await queuesOf(first)).toEqual(['documents']);

  const documents = db().collection<{ _id: string; status: string }>('documents');
  await documents.updateOne({ _id: first }, { $set: { status: 'processing' } });
  const second = await indexed(org, token, 'The plover tariff costs ten euros.');
  expect(await queuesOf(second)).toEqual(['backlog']);
  const path = `/orgs/${org.orgId}/documents/${second}/reprocess`;
  expect(await api.request('POST', path, { token, body: {} })).toMatchObject({ status: 202 });
  expect(await api.processed(org.orgId, token, second)).toMatchObject({ status: 'indexed' });
  expect(await queuesOf(second, 2)).toEqual(['backlog']);

  const other = await fresh();
  expect(await queuesOf(await indexed(other.org, other.token, 'The godwit tariff costs a euro.'))).toEqual([
    'documents',
  ]);
  await documents.updateOne({ _id: first }, { $set: { status: 'indexed' } });
  expect(await queuesOf(await indexed(org, token, 'The knot tariff costs two euros.'))).toEqual(['documents']);
});

it('a document moves to the backlog queue at its start when another document of its organization is being processed', async () => {
  const { org, token } = await fresh();
  const first = await indexed(org, token, 'The dunlin tariff costs nine euros.');
  // An upload in test mode checks only documents of test mode, so it does not notice this one in live mode.
  await db()
    .collection<{ _id: string; status: string; mode: string }>('documents')
    .updateOne({ _id: first }, { $set: { status: 'processing', mode: 'live' } });
  expect(await queuesOf(await indexed(org, token, 'The ruff tariff costs ten euros.'))).toEqual([
    'documents',
    'backlog',
  ]);
});
