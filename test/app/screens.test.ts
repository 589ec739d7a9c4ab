/** Every screen of the page `/app`: its size, its accessibility and its texts. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'puppeteer';
import { openApp, type AppPage } from '../kit/apppage.ts';
import { startChromium } from '../kit/chromium.ts';
import { sharedDatabase } from '../kit/database.ts';
import { system, until, type TestOrg, type TestUser } from '../kit/harness.ts';
import { pixel } from '../kit/pixel.ts';
import { StaffClient } from '../kit/staffsocket.ts';
import { cancel, shopping } from '../kit/toolshop.ts';
import { buildApp } from '../../api/http/apppage.ts';
import type { ToolCall } from '../../models/mcp/call.ts';
import { newId } from '../../models/base/ids.ts';

const api = system();
const db = sharedDatabase();
const shops = shopping(api);
let browser: Browser;
let app: AppPage;
let org: TestOrg;
let bob: TestUser;
let convId: string;
beforeAll(async () => {
  browser = await startChromium(process.env['TEST_CHROMIUM']!);
  org = await api.newOrg();
  bob = await api.join(org);
  const session = await api.newSession(org);
  const say = (body: string) =>
    api.request('POST', `/support/chat/messages/${org.orgId}`, { token: session.token, body: { body } });
  await say('What does a card cost?');
  convId = (await say('I want to talk to a person')).body.conv_id;
  await api.upload(org.orgId, (await api.newKey(org)).token, {
    name: 'help.md',
    content: '# Cards\n\nA card costs 5 EUR.',
  });
  app = await openApp(browser, api.url, org.owner);
});
afterAll(() => browser.close());

describe('the page /app', () => {
  it.each([
    ['inbox?box=all', 'Choose a conversation.'],
    ['inbox/CONV?box=all', 'I want to talk to a person'],
    ['knowledge', 'help.md'],
    ['knowledge/pages', 'No page yet.'],
    ['knowledge/gaps?status=open', 'Open'],
    ['knowledge/ask', 'Question'],
    ['knowledge/article/new?question=What%20is%20a%20card', 'New article'],
    ['tools', 'No tool server yet.'],
    ['tools/approvals', 'No call waits.'],
    ['tools/audit', 'Check the chain'],
    ['deliveries', 'No destination'],
    ['settings', 'Quiet hours'],
    ['settings/members', 'Test Person'],
    ['settings/replies', 'None yet.'],
    ['settings/tags', 'Colour'],
    ['settings/hours', 'Open now.'],
    ['inbox?box=all&q=card', 'card'],
    ['settings/chat', 'data-key'],
    ['settings/widget', 'Name of the agent'],
    ['settings/integrations', 'Not connected'],
    ['settings/keys', 'test key'],
    ['settings/live', 'not live yet'],
    ['start', 'Five steps'],
  ])('axe finds no accessibility violation on /app/%s, light and dark, wide and narrow', async (path, words) => {
    await app.open(`/app/${path.replace('CONV', convId)}`);
    await app.shows(words);
    expect(await app.violations()).toEqual([]);
    expect(app.faults).toEqual([]);
  });

  it.each([
    ['de-DE', 'Posteingang', 'Wählen Sie ein Gespräch.'],
    ['fr', 'Messagerie', 'Choisissez une conversation.'],
    ['es-MX', 'Bandeja', 'Elija una conversación.'],
    ['nl', 'Inbox', 'Choose a conversation.'],
  ])(
    'a browser with the language %s shows the page in this language if the page has it, or else in English',
    async (language, inbox, choose) => {
      const speak = `Object.defineProperty(navigator, 'languages', { get: () => ['${language}'] })`;
      const { identifier } = await app.page.evaluateOnNewDocument(speak);
      await app.open('/app/inbox?box=all');
      await app.shows(inbox);
      await app.shows(choose);
      await app.page.removeScriptToEvaluateOnNewDocument(identifier);
    },
  );

  it('a page that stays open shows how waits grow, and later the date of messages, notes and events that are no longer of today', async () => {
    const note = { token: org.owner.token, body: { body: 'Watch the post.' } };
    const path = `/support/inbox/orgs/${org.orgId}/${convId}/notes`;
    expect((await api.request('POST', path, note)).status).toBe(201);
    await app.open(`/app/inbox/${convId}?box=all`);
    await app.shows('Watch the post.');
    // The clock of the page goes on by two days.
    await app.page.evaluate(`(() => {
      window.Date = class extends Date {
        constructor(...given) {
          super(...(given.length > 0 ? given : [Date.now() + 2 * 86_400_000]));
        }
      };
      document.dispatchEvent(new Event('visibilitychange'));
    })()`);
    await app.shows('waits 2 days');
    const kinds = ['.message header small', '.events small'];
    const times = `[...document.querySelectorAll('${kinds.join()}')].map(({ textContent }) => textContent)`;
    const isShown = `${JSON.stringify(kinds)}.map((one) => document.querySelector(one) !== null)`;
    expect(await app.page.evaluate(isShown)).toEqual([true, true]);
    const dated = async () =>
      ((await app.page.evaluate(times)) as string[]).every((time) => /^[A-Z][a-z]+ \d/.test(time));
    await until(dated, 'every time to have its date');
  });

  it('the page still receives new conversations after the user opened a conversation that does not exist or was removed', async () => {
    const colleague = await StaffClient.open(api, org.orgId, bob);
    /** Has a new customer write, and waits until the list shows that customer. */
    const gets = async (name: string) => {
      const customer = { email: `${name.toLowerCase()}@customer.example`, name };
      const { token } = await api.newSession(org, { body: { customer } });
      await api.request('POST', `/support/chat/messages/${org.orgId}`, { token, body: { body: 'Hello?' } });
      await app.shows(name);
    };
    await app.open(`/app/inbox/${newId('conversation')}?box=all`);
    await app.shows('no longer');
    await gets('Grace');

    const stored = db().collection<{ _id: string; ordinal: number }>('conversations');
    const standing = (await stored.findOne({ _id: convId }))!;
    const { ticket: _, pending: __, ...plain } = standing as typeof standing & Record<string, unknown>;
    // The conversation has nothing unread, so that reading it changes nothing and makes no page read it again.
    const copy = { ...plain, _id: newId('conversation'), ordinal: 900, unread: 0 };
    await stored.insertOne(copy);
    await app.page.evaluate(
      `history.pushState(null, '', '/app/inbox/${copy._id}?box=all'); dispatchEvent(new PopStateEvent('popstate'));`,
    );
    await colleague.frame('viewing', ({ conv_id, doing }) => conv_id === copy._id && doing === 'reading');
    // No frame reports this removal, so the page names the conversation when it leaves, and its socket is closed.
    await stored.deleteOne({ _id: copy._id });
    await app.press('Escape');
    await colleague.frame('viewing', ({ conv_id, doing }) => conv_id === copy._id && doing === 'gone');
    await gets('Alan');
    await colleague.close();
  });

  /** Scrolls the list to the end of what is loaded. Returns the number of its rows. */
  const listed = () =>
    app.page.evaluate(`(() => {
      const rows = document.querySelector('.rows');
      if (rows) rows.scrollTop = rows.scrollHeight;
      return Number(document.querySelector('.rows li')?.getAttribute('aria-setsize'));
    })()`) as Promise<number>;

  it('scrolling loads a long list to its end, even when the user switches to another list and back meanwhile', async () => {
    const stored = db().collection<{ _id: string; ordinal: number }>('conversations');
    const standing = (await stored.findOne({ _id: convId }))!;
    const { ticket: _, pending: __, ...plain } = standing as typeof standing & Record<string, unknown>;
    const copies = 250;
    await stored.insertMany(
      Array.from({ length: copies }, (_copy, at) => ({
        ...plain,
        _id: newId('conversation'),
        ordinal: at + 1_000,
        last_message_at: new Date(Date.now() - at * 1_000),
      })),
    );
    await app.open('/app/inbox?box=all');
    await until(async () => (await listed()) >= 200, 'two pages');
    for (const box of ['Resolved', 'All'])
      await app.page.evaluate(
        `[...document.querySelectorAll('.boxes a')].find((link) => link.textContent.startsWith('${box}')).click()`,
      );
    await until(async () => (await listed()) > copies, 'the whole list');
  });

  it('scrolling loads all hits of a search, and a new search shows its own hits', async () => {
    const found = 120;
    await db()
      .collection<{ _id: string }>('messages')
      .insertMany(
        Array.from({ length: found }, (_message, at) => ({
          _id: newId('message'),
          org_id: org.orgId,
          conv_id: newId('conversation'),
          mode: 'test',
          role: 'customer',
          body: at < 10 ? 'A zebra and a quagga' : 'A zebra',
          position: 1,
          at: new Date(Date.now() - at * 1_000),
        })),
      );
    await app.open('/app/inbox?box=all&q=zebra');
    await until(async () => (await listed()) === 50, 'the first page');
    await until(async () => (await listed()) === found, 'all hits');
    await app.press('/', 'End');
    await app.type(' quagga');
    await app.press('Enter');
    await until(async () => (await listed()) === 10, 'the hits of the other search');
  });

  /** Stores tool calls that wait for a member, and opens the list of them. */
  async function waitingCalls({ orgId }: TestOrg, user: TestUser, count: number) {
    const stored = db().collection<ToolCall>('tool_calls');
    await stored.insertMany(
      Array.from({ length: count }, (_call, ordinal): ToolCall => ({
        _id: newId('toolCall'),
        org_id: orgId,
        mode: 'test',
        conv_id: convId,
        customer_id: newId('customer'),
        message_id: 'msg_of_waiting_calls',
        ordinal,
        tool_name: 'cancel_order',
        risk_tier: 'admin_approve',
        auth_scope: 'verified_customer',
        pin: 'pin',
        arguments: '{}',
        arguments_sha256: 'hash',
        state: 'waiting',
        awaited: 'member',
        ask_until: new Date(Date.now() + 3_600_000),
        held_back: 0,
        created_at: new Date(),
      })),
    );
    const member = await openApp(browser, api.url, user);
    const usable = () =>
      member.page.evaluate("document.querySelectorAll('.cards .line button:enabled').length") as Promise<number>;
    await member.open('/app/tools/approvals');
    await until(async () => (await usable()) === 2 * 50, 'two buttons for each call of the first page');
    return { member, usable, stored };
  }
  const clickMore =
    "[...document.querySelectorAll('button')].find(({ textContent }) => textContent === 'More').click()";

  it('a plain member can approve and deny every waiting tool call, also those after the first fifty', async () => {
    const calls = 60;
    const { member, usable } = await waitingCalls(org, bob, calls);
    await member.page.evaluate(clickMore);
    await until(async () => (await usable()) === 2 * calls, 'two buttons for each call');
    await member.lacks('More');
  });

  it('a decided tool call disappears from the list, even when the user loads more calls while the list is reloaded', async () => {
    const calls = 60;
    const own = await api.newOrg();
    const { member, usable, stored } = await waitingCalls(own, own.owner, calls);
    // The next read of the list waits until the test lets it go on.
    await member.page.evaluate(`(() => {
      const send = window.fetch;
      const { promise, resolve } = Promise.withResolvers();
      window.letGo = resolve;
      window.fetch = async (url, init) => {
        if (init.method === 'GET' && url.includes('/approvals?')) {
          window.waits = true;
          await promise;
        }
        return send(url, init);
      };
    })()`);
    const [newest] = await stored.find({ org_id: own.orgId }).sort({ _id: -1 }).limit(1).toArray();
    await stored.updateOne({ _id: newest!._id }, { $set: { state: 'ended' } });
    // The call is decided already, so this decision is refused. The page then reads the list again.
    await member.press('d');
    await member.shows('The customer is told.');
    await member.page.evaluate("document.querySelector('dialog[open] button.danger').click()");
    await until(
      async () => (await member.page.evaluate('window.waits === true')) as boolean,
      'the list to be read again',
    );
    await member.page.evaluate(clickMore);
    await member.page.evaluate('window.letGo()');
    await until(async () => (await usable()) === 2 * (calls - 1), 'two buttons for each call that still waits');
    await member.lacks('More');
  });

  it('approving a tool approves the definition that the page shows, and keeps a concurrent change of another tool', async () => {
    const track = { ...cancel, name: 'track_parcel', description: 'Tracks a parcel.' };
    const shop = await shops.opened([
      { tool: cancel, risk_tier: 'admin_approve', auth_scope: 'verified_visitor', timeout_ms: 5_000 },
      { tool: track, risk_tier: 'read_public' },
    ]);
    const approved = async (): Promise<{ source_name: string }[]> =>
      (await shop.request('GET', '/server')).body.server.approved_tools;
    const own = await openApp(browser, api.url, shop.org.owner);
    const click = (words: string) =>
      own.page.evaluate(
        `[...document.querySelectorAll('button')].find(({ textContent }) => textContent === '${words}').click()`,
      );
    await own.open('/app/tools');
    await own.shows('Tracks a parcel.');
    shop.mcp.tools = [{ ...cancel, description: 'Cancels any order.' }, track];
    await click('Ask the server for its tools');
    await own.shows('Cancels any order.');
    // Meanwhile the other tool is suspended, and somebody else discovers another definition of this one.
    const approved_tools = (await approved()).map((tool) => ({ ...tool, suspended: tool.source_name === track.name }));
    expect((await shop.request('PUT', '/server', { body: { approved_tools } })).status).toBe(200);
    shop.mcp.tools = [{ ...cancel, description: 'Cancels every order.' }, track];
    expect((await shop.request('POST', '/discover')).status).toBe(200);

    await click('Approve cancel_order');
    await own.page.waitForSelector('dialog[open] select');
    expect(
      await own.page.evaluate("[...document.querySelectorAll('dialog select')].map(({ value }) => value)"),
    ).toEqual(['admin_approve', 'verified_visitor']);
    await own.page.click('dialog button[type=submit]');
    await own.shows('Approved.');
    expect(await approved()).toMatchObject([
      { source_name: track.name, risk_tier: 'read_public', suspended: true },
      {
        source_name: cancel.name,
        description: 'Cancels any order.',
        risk_tier: 'admin_approve',
        auth_scope: 'verified_visitor',
        timeout_ms: 5_000,
        suspended: false,
      },
    ]);
    expect(own.faults).toEqual([]);
  });

  it('a key that belongs to an input method is no shortcut, also in Safari, which shows this only by the key code', async () => {
    await app.open('/app/inbox?box=all');
    await app.shows('Choose a conversation.');
    await app.page.evaluate(
      "document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '?', keyCode: 229, bubbles: true }))",
    );
    // While the dialog of `?` is open, other shortcuts are off.
    await app.press('g', 's');
    await app.shows('Quiet hours');
  });

  it('the result of a check of the audit log disappears when the user changes the mode (test or live)', async () => {
    await app.open('/app/tools/audit');
    await app.shows('Check the chain');
    await app.page.evaluate(
      "[...document.querySelectorAll('button')].find(({ textContent }) => textContent === 'Check the chain').click()",
    );
    await app.shows('entries checked');
    await app.page.click('.self button:last-child');
    await app.page.waitForSelector('dialog[open]');
    await app.page.select('dialog label:nth-of-type(2) select', 'live');
    await app.lacks('entries checked');
    await app.page.select('dialog label:nth-of-type(2) select', 'test');
    await app.press('Escape');
  });

  it('in the look of the chat, text that is not saved yet stays when the user uploads a picture or chooses a language, and no error about another language is shown', async () => {
    const own = await openApp(browser, api.url, (await api.newOrg()).owner);
    await own.open('/app/settings/widget');
    await own.shows('Name of the agent');
    const typed = { accent: '#0a5c36', agent_name: 'Linda', ask_email: 'never', outside: 'hide', greeting: 'Welcome.' };
    await own.page.evaluate(`for (const [name, value] of Object.entries(${JSON.stringify(typed)}))
      document.getElementsByName(name)[0].value = value;`);
    const fields = () =>
      own.page.evaluate(`Object.fromEntries(${JSON.stringify(Object.keys(typed))}.map((name) =>
        [name, document.getElementsByName(name)[0].value]))`);
    expect(await fields()).toEqual(typed);
    await own.page.evaluate(`(() => {
      const files = new DataTransfer();
      files.items.add(new File([Uint8Array.from(${JSON.stringify([...pixel])})], 'logo.png', { type: 'image/png' }));
      const input = document.querySelector('input[type=file]');
      input.files = files.files;
      input.dispatchEvent(new Event('change', { bubbles: true }));
    })()`);
    await own.shows('Saved.');
    expect(await fields()).toEqual(typed);
    await own.page.evaluate(`(() => {
      const [greeting] = document.getElementsByName('greeting');
      greeting.value = 'Welcome. '.repeat(100);
      greeting.form.requestSubmit();
    })()`);
    await own.page.waitForSelector('form .error');
    await own.page.select('select[name=language]', 'de');
    await own.page.waitForSelector('iframe[src*="locale=de"]');
    await own.page.waitForSelector('form .error', { hidden: true });
    expect(await fields()).toEqual({ ...typed, greeting: '' });
  });

  it('the dialog for signing in again opens an identity provider in a new tab, so that the page keeps what was typed', async () => {
    const own = await openApp(browser, api.url, org.owner);
    // The login has ended, so the API refuses all requests except those to sign in.
    await own.page.evaluate(`(() => {
      window.fetch = async (url) =>
        url === '/v1/auth/browser'
          ? Response.json({ success: true, data: { providers: ['main'] } })
          : Response.json({ error: 'Sign in.', code: 'UNAUTHENTICATED' }, { status: 401 });
      history.pushState(null, '', '/app/knowledge');
      dispatchEvent(new PopStateEvent('popstate'));
    })()`);
    await own.page.waitForSelector('dialog[open] a.button');
    expect(await own.page.evaluate("document.querySelector('dialog[open] a.button').target")).toBe('_blank');
  });

  it('an active key and a pending invitation are shown even when more than a hundred revoked ones are newer', async () => {
    const email = 'grace@staff.example';
    await api.request('POST', `/orgs/${org.orgId}/members`, {
      token: org.owner.token,
      body: { email, role: 'member' },
    });
    type Ended = { _id: string; org_id: string };
    const add = async (name: 'keys' | 'invitations', ended: (id: string) => object) => {
      const stored = db().collection<Ended>(name);
      const standing = (await stored.findOne({ org_id: org.orgId }))!;
      await stored.insertMany(
        Array.from({ length: 101 }, () => {
          const _id = newId(name === 'keys' ? 'key' : 'invitation');
          return { ...standing, _id, ...ended(_id) };
        }),
      );
    };
    await add('keys', (id) => ({ token_hash: id, revoked_at: new Date() }));
    await add('invitations', (id) => ({ hash: id, link_hash: id, status: 'revoked' }));
    await app.open('/app/settings/keys');
    await app.shows('test key');
    await app.open('/app/settings/members');
    await app.shows(email);
  });

  it('the page’s scripts and styles are under 120 KB compressed on the first load, and under 130 KB in all', async () => {
    const { files } = await buildApp();
    const sizes = new Map([...files].map(([name, { gzip }]) => [name, gzip.length]));
    const all = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    expect(all).toBeLessThan(130_000);
    // The first load is `main`, the style, and at most all chunks that screens share.
    const first = [...sizes].filter(([name]) => /^(?:main|style|chunk)-/.test(name));
    expect(first.reduce((sum, [, size]) => sum + size, 0)).toBeLessThan(120_000);
    for (const [name, size] of sizes) expect([name, size < 30_000]).toEqual([name, true]);
  });
});
