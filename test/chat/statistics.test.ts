/** A team's statistics, over a conversation that the agent answered and one that was escalated to people. */
import { expect, it } from '@jest/globals';
import { system, until, type TestOrg } from '../kit/harness.ts';

const api = system();

async function conversation(org: TestOrg, body: string): Promise<string> {
  const { token } = await api.newSession(org);
  const sent = await api.request('POST', `/support/chat/messages/${org.orgId}`, { token, body: { body } });
  expect(sent.status).toBe(202);
  return sent.body.conv_id as string;
}
const inbox = (org: TestOrg, method: 'GET' | 'POST' | 'PUT', path: string, body?: object) =>
  api.request(method, `/support/inbox/orgs/${org.orgId}/${path}`, {
    token: org.owner.token,
    ...(body ? { body } : {}),
  });
const numbers = async (org: TestOrg, query = '') => {
  const reply = await api.request('GET', `/support/stats/orgs/${org.orgId}${query}`, { token: org.owner.token });
  expect(reply.status).toBe(200);
  return reply.body;
};

it('the statistics count all conversations and those answered without a person, and tell how long customers waited for people', async () => {
  const org = await api.newOrg();
  const key = (await api.newKey(org)).token;
  const hours = { timezone: 'Europe/Berlin', week: {}, closed: [], away_message: null };
  await api.request('PUT', `/orgs/${org.orgId}/hours`, { token: org.owner.token, body: { hours } });
  const content = 'The gannet card costs 12 EUR a year.';
  const { body } = await api.upload(org.orgId, key, { name: 'gannets.md', content });
  expect((await api.processed(org.orgId, key, body.document.doc_id)).status).toBe('indexed');

  const answered = await conversation(org, 'How much is the gannet card?');
  await until(async () => {
    const { messages } = (await inbox(org, 'GET', answered)).body;
    return messages.some(({ role }: { role: string }) => role === 'ai');
  }, 'the answer');
  expect((await numbers(org)).total).toMatchObject({ conversations: 1, deflected: 0, escalated: 0 });
  expect((await inbox(org, 'POST', `${answered}/resolve`, {})).status).toBe(200);

  const called = await conversation(org, 'I want to talk to a human');
  await until(
    async () => (await inbox(org, 'GET', called)).body.conversation.status === 'escalated',
    'a person to be called',
  );
  await inbox(org, 'PUT', `${called}/tags`, { tags: ['cards'] });
  await inbox(org, 'POST', `${called}/assign`, { user_id: org.owner.userId });
  for (const text of ['Here I am.', 'What is it about?']) await inbox(org, 'POST', `${called}/reply`, { body: text });
  for (const act of ['resolve', 'reopen', 'resolve']) await inbox(org, 'POST', `${called}/${act}`, {});

  // In the year 20 the organization had no opening hours and no conversations yet.
  expect((await numbers(org, '?until=0020-02-29T00:00:00Z')).total).toMatchObject({ conversations: 0 });
  const found = await numbers(org, '?by=tag');
  expect(found.total).toMatchObject({
    conversations: 2,
    deflected: 1,
    escalated: 1,
    resolved: 2,
    reopened: 1,
    first_response_seconds: { median: expect.any(Number), p90: expect.any(Number) },
    resolution_seconds: { median: expect.any(Number), p90: expect.any(Number) },
    within_hours: { first_response_seconds: { median: 0, p90: 0 }, resolution_seconds: { median: 0, p90: 0 } },
    csat: { count: 0, average: null },
  });
  expect(found.groups).toMatchObject([{ group: 'cards', conversations: 1, escalated: 1 }]);
  const byMember = (await numbers(org, '?by=member')).groups.map(({ group }: { group: string }) => group);
  expect(byMember).toEqual(['none', org.owner.userId]);
  expect((await numbers(org, '?until=2020-01-01T00:00:00Z')).total.conversations).toBe(0);
  expect((await numbers(org, '?mode=live')).total.conversations).toBe(0);
});

it('a request for statistics of a period that ends before it begins, or is longer than a year, is refused', async () => {
  const [org, foreign] = [await api.newOrg(), await api.newOrg()];
  const path = `/support/stats/orgs/${org.orgId}`;
  for (const query of ['from=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z', 'from=2020-01-01T00:00:00Z', 'by=year'])
    expect((await api.request('GET', `${path}?${query}`, { token: org.owner.token })).status).toBe(400);
  expect((await api.request('GET', path, { token: foreign.owner.token })).status).toBe(404);
});
