/**
 * The day of a support team on the page `/app`, by keyboard alone, in a real Chromium, with an API process that is
 * killed in the middle.
 */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser } from 'puppeteer';
import { openApp } from '../kit/apppage.ts';
import { startChromium, wireTo, type Wire } from '../kit/chromium.ts';
import { sharedDatabase } from '../kit/database.ts';
import { system, until, type TestOrg } from '../kit/harness.ts';
import { removeDataDir, startProcess, systemEnv, type Running } from '../kit/processes.ts';
import { all, newSecret, outboxOf, startReceiver, status, type Receiver } from '../kit/receiver.ts';
import { cancel, done, please, shopping } from '../kit/toolshop.ts';
import type { Delivery } from '../../models/events/delivery.ts';

const api = system();
const db = sharedDatabase();
const { opened, met } = shopping(api);
let browser: Browser;
let receiver: Receiver;
let wire: Wire | undefined;
let dying: Running | undefined;
beforeAll(async () => {
  [browser, receiver] = await Promise.all([startChromium(process.env['TEST_CHROMIUM']!), startReceiver(status(500))]);
});
afterAll(async () => {
  await browser.close();
  await receiver.close();
  await wire?.close();
  await dying?.kill();
});

it('a team can reply, write notes and articles, and approve tool calls by keyboard alone, even when an API process dies', async () => {
  const shop = await opened([{ tool: cancel, risk_tier: 'admin_approve', auth_scope: 'verified_customer' }]);
  const { org, key } = shop;
  const bob = await api.join(org);
  await api.request('PUT', '/me/notices', { token: org.owner.token, body: { mail: false } });
  const inbox = async (convId: string) =>
    (await api.request('GET', `/support/inbox/orgs/${org.orgId}/${convId}`, { token: key })).body;
  const uploaded = await api.upload(org.orgId, key, {
    name: 'help.md',
    content: '# Cards\n\nA replacement card costs 15 EUR.',
  });
  await api.processed(org.orgId, key, uploaded.body.document.doc_id);
  // A second API process of the shared system, with its index.
  const env = systemEnv('shared');
  await removeDataDir(env);
  dying = await startProcess('api/server.ts', { ...env, DATA_DIR: process.env['TEST_DATA_DIR']! });
  wire = await wireTo(dying.url);
  const ada = await openApp(browser, wire.url, org.owner);
  const colleague = await openApp(browser, api.url, bob);
  await ada.shows('No conversation here.');

  // 1. A customer asks for a person, and every connected member sees the request.
  const { client } = await met(shop, { customer: { email: 'grace@customer.example', name: 'Grace' } });
  client.say('What does a replacement card cost?');
  expect((await client.frame('reply_end')).body).toContain('15 EUR');
  client.say('I want to talk to a person');
  for (const page of [ada, colleague]) {
    await page.shows('waits');
    await until(async () => (await page.page.title()).startsWith('(1)'), 'the title to say that one waits');
  }

  // 2. A member reads why the agent gave this answer.
  await ada.press('j');
  await ada.shows('What does a replacement card cost?');
  const convId = client.convId!;
  await ada.tabTo('Why this answer?');
  await ada.press('Enter');
  await ada.shows('Searched for');
  await until(
    async () => ((await ada.page.$eval('.why .used', (used) => used.textContent)) ?? '').includes('costs 15 EUR'),
    'the passage that was used',
  );
  await colleague.shows('Test Person looks at this');

  // 3. A member changes a draft and sends it, although the API process of the page is killed. A note mentions a
  // colleague.
  await ada.tabTo('Reply to Grace');
  await dying.kill();
  await ada.type('A replacement card costs 15 EUR, and I have ordered one for you.');
  await ada.page.keyboard.down('Control');
  await ada.press('Enter');
  await ada.page.keyboard.up('Control');
  await ada.shows('on its way');
  await ada.shows('No connection.');
  wire.lead(api.url);
  await ada.lacks('on its way');
  expect((await client.frame('agent_reply')).body).toContain('I have ordered one for you');
  await ada.lacks('No connection.');
  await ada.press('Escape', 'n');
  await ada.type('Please watch the post, @Te');
  await ada.press('Enter');
  await ada.page.keyboard.down('Control');
  await ada.press('Enter');
  await ada.page.keyboard.up('Control');
  await ada.shows('Note: Test Person');
  await ada.press('Escape', 'i', 't');
  await ada.page.waitForSelector('dialog[open] input:focus');
  await ada.type('cards');
  await ada.press('Enter', 'Escape');
  await ada.shows('cards');
  await colleague.tabTo('Notifications');
  await colleague.press('Enter');
  await colleague.shows('You were mentioned in a note');
  await ada.press('e');
  const over = await until(async () => {
    const read = await inbox(convId);
    return read.conversation.status === 'resolved' && read;
  }, 'the conversation to be resolved');
  expect(over.conversation).toMatchObject({ assigned_to: org.owner.userId, tags: ['cards'] });
  expect(over.notes[0].body).toContain('@Test Person');
  expect(over.messages.filter(({ role }: { role: string }) => role === 'agent')).toHaveLength(1);

  // 4. A question without an answer is listed as a gap. After a member writes an article, the same question is
  // answered.
  const other = await met(shop);
  other.client.say('Where can I park a bicycle at the branch?');
  await other.client.frame('reply_end');
  await ada.open('/app/knowledge/gaps');
  await ada.shows('Where can I park a bicycle at the branch?');
  await ada.tabTo('Answer it');
  await ada.press('Enter');
  await ada.shows('What was judged');
  await ada.tabTo('Text (Markdown)');
  await ada.type('# Bicycles\n\nYou can park a bicycle at the branch behind the house.');
  await ada.shows('Bicycles');
  await ada.tabTo('Save');
  await ada.press('Enter');
  await ada.shows('help.md');
  await until(async () => {
    const query = { query: 'Where can I park a bicycle at the branch?' };
    const asked = await api.request('POST', `/orgs/${org.orgId}/kb/query`, { token: key, body: query });
    return (asked.body.answer as string).includes('behind the house');
  }, 'the article to answer');

  // 5. A tool call waits for approval. A member approves the call, and a dialog asks once more.
  other.client.say(please);
  await ada.open('/app/tools/approvals');
  await ada.shows('A-1042');
  await ada.press('y');
  await ada.page.waitForSelector('dialog[open]');
  await ada.tabTo('Approve');
  await ada.press('Enter');
  await ada.shows('Approved.');
  expect((await other.client.frame('reply_end', ({ body }) => body === done)).body).toBe(done);

  // 6. A delivery has failed. A member reads its attempts and sends it again.
  await failedDelivery(org);
  await ada.open('/app/deliveries?status=failed');
  await ada.shows('ticket.created');
  await ada.tabTo('ticket.created');
  await ada.press('Enter');
  await ada.shows('Send again');
  await ada.shows('500');
  receiver.answer = status(204);
  await ada.press('s');
  await ada.shows('It is sent again.');
  await ada.shows('Delivered');
  expect([...ada.faults, ...colleague.faults]).toEqual([]);
});

/** Makes a delivery of a live conversation fail for good. The page then shows live data. */
async function failedDelivery(org: TestOrg): Promise<void> {
  const { configure, newConversation, act, deliveries, outbox } = outboxOf(api);
  await api.goLive(org);
  const live = { ...org, key: (await api.newKey(org, { mode: 'live' })).token };
  await configure(live, {
    outbox_providers: ['webhook'],
    outbox_webhook_url: receiver.url,
    outbox_webhook_secret: newSecret(),
  });
  const { convId } = await newConversation(live);
  await act(live, convId, 'escalate');
  const tried = (those: { attempts: unknown[] }[]) => those.some(({ attempts }) => attempts.length > 0);
  const due = await deliveries(live, tried, '&kind=webhook');
  await db()
    .collection<Delivery>('deliveries')
    .updateMany({ org_id: org.orgId, mode: 'live' }, { $set: { tries: 7 } });
  await outbox(live, 'POST', `/deliveries/${due[0].delivery_id}/redeliver`, {});
  await deliveries(live, all(2, 'failed'), '&kind=webhook');
}
