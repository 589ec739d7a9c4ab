/** The agent's answer as a draft for a member: it comes from the documents, and nothing is stored. */
import { beforeAll, expect, it } from '@jest/globals';
import { sharedDatabase } from '../kit/database.ts';
import { system, until, type TestOrg } from '../kit/harness.ts';

const api = system();
const db = sharedDatabase();
let org: TestOrg;
beforeAll(async () => {
  org = await api.newOrg();
  const content = '# Gannet cards\nThe gannet card costs 12 EUR a year. It is free for students under 26.\n';
  const { body } = await api.upload(org.orgId, (await api.newKey(org)).token, { name: 'gannets.md', content });
  expect((await api.processed(org.orgId, (await api.newKey(org)).token, body.document.doc_id)).status).toBe('indexed');
});

const inbox = (method: 'GET' | 'POST', path: string) =>
  api.request(method, `/support/inbox/orgs/${org.orgId}/${path}`, {
    token: org.owner.token,
    ...(method === 'POST' ? { body: {} } : {}),
  });
const suggest = async (convId: string) => {
  const { status, body } = await inbox('POST', `${convId}/suggest`);
  expect(status).toBe(200);
  return body.suggestion;
};
/** A conversation with these messages of the customer, each sent after the agent has answered the previous one. */
async function conversation(...said: string[]): Promise<string> {
  const { token } = await api.newSession(org);
  let convId = '';
  for (const body of said) {
    const path = `/support/chat/messages/${org.orgId}`;
    convId = (await api.request('POST', path, { token, body: { body } })).body.conv_id;
    const messages = db().collection('messages');
    await until(
      async () => (await messages.countDocuments({ conv_id: convId, state: 'waiting' })) === 0,
      'the agent to have answered',
    );
  }
  return convId;
}
/** The numbers of stored records that a customer's message increases: messages, gaps and tool calls. */
const stored = async (): Promise<number[]> =>
  Promise.all(
    ['messages', 'gaps', 'tool_calls'].map((name) => db().collection(name).countDocuments({ org_id: org.orgId })),
  );

it('a suggested reply answers the customer’s last question, even when the customer then asked for a person', async () => {
  const convId = await conversation('How much is the gannet card?', 'I want to talk to a human');
  const { body } = await inbox('GET', convId);
  expect(body.conversation.status).toBe('escalated');
  const question = body.messages.find(({ role }: { role: string }) => role === 'customer');
  const before = await stored();
  expect(await suggest(convId)).toMatchObject({
    body: expect.stringContaining('12 EUR'),
    sources: [{ name: 'gannets.md' }],
    confidence: 'high',
    record: { generated_by: 'extractive' },
    based_on: question.id,
  });
  expect(await stored()).toEqual(before);
});

it('no reply is suggested when the documents have no answer or the customer asked nothing', async () => {
  const unknown = await conversation('Does the hotel on Mars serve breakfast?');
  const courtesy = await conversation('Hello!');
  const before = await stored();
  expect([await suggest(unknown), await suggest(courtesy)]).toEqual([null, null]);
  expect(await stored()).toEqual(before);
  const foreign = await api.newOrg();
  const path = `/support/inbox/orgs/${foreign.orgId}/${unknown}/suggest`;
  expect((await api.request('POST', path, { token: foreign.owner.token, body: {} })).status).toBe(404);
});
