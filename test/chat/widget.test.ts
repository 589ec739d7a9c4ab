/**
 * The chat widget in a real Chromium, against the real API and workers: what a customer sees and does.
 * Further tests cover lost connections, several tabs, keyboard use, the accessibility tree, and pages with strict
 * policies.
 */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'puppeteer';
import { chatOn, failOnce, startChromium, visit, wireTo, type Chat } from '../kit/chromium.ts';
import { sharedDatabase } from '../kit/database.ts';
import { apiAt, system, until, type Api, type TestOrg } from '../kit/harness.ts';
import { listening } from '../kit/listening.ts';
import { startOpenAiServer, type OpenAiServer } from '../kit/openai-server.ts';
import { accentsOf } from '../../models/rules/chat/accent.ts';
import { pixel } from '../kit/pixel.ts';
import { removeDataDir, startProcess, systemEnv, type Running, type SystemEnv } from '../kit/processes.ts';

const api = system();
const db = sharedDatabase();
const cleanups: (() => Promise<unknown> | void)[] = [];
let browser: Browser;
beforeAll(async () => {
  browser = await startChromium(process.env['TEST_CHROMIUM']!);
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});
afterAll(() => browser.close());

const help = `# Lost card

Call +49 30 555 0100 at any hour and the card is blocked at once. A new card arrives within three working days.

# Opening hours

The branch in Rostock is open on weekdays from 8:30 to 16:00.
`;
const question = 'When does a new card arrive after I lost mine?';
const answer = /three working days/;

type Bank = { org: TestOrg; key: string; publishable: string };

/** A new organization in which `content` is indexed, by default the help centre. */
async function bank(content = help, at: Api = api): Promise<Bank> {
  const org = await at.newOrg();
  const { token: key } = await at.newKey(org);
  const [{ body: keys }, { body: uploaded }] = await Promise.all([
    at.request('GET', `/support/developer-keys/orgs/${org.orgId}/publishable-keys`, { token: org.owner.token }),
    at.upload(org.orgId, key, { name: 'help.md', content }),
  ]);
  const document = await at.processed(org.orgId, key, uploaded.document.doc_id);
  expect(document.status).toBe('indexed');
  return { org, key, publishable: keys.data.test.key };
}

let shared: Promise<Bank> | undefined;
/** One organization for all tests that look only at the page of their own customer. */
const anyBank = (): Promise<Bank> => (shared ??= bank());

/** Opens the demonstration page in a new browser context. */
async function demo(
  publishable: string,
  { url = api.url, width = 1000, height = 760, ...settings }: Record<string, string | number> = {},
): Promise<{ page: Page; chat: Chat }> {
  const query = new URLSearchParams({ key: publishable, locale: 'en' });
  for (const [name, value] of Object.entries(settings)) query.set(name, String(value));
  const { page, chat, context } = await visit(browser, `${url}/demo?${query.toString()}`, {
    width: Number(width),
    height: Number(height),
  });
  cleanups.push(() => context.close());
  return { page, chat };
}

/** Waits until the log equals these lines; a pattern equals any line that matches it. */
async function shows(chat: Chat, lines: readonly (string | RegExp)[]): Promise<void> {
  let seen: string[] = [];
  await until(
    async () => {
      seen = await chat.messages();
      return (
        seen.length === lines.length &&
        lines.every((line, index) => (typeof line === 'string' ? seen[index] === line : line.test(seen[index]!)))
      );
    },
    `the log to be ${lines.join(' | ')}`,
  ).catch((error: unknown) => {
    throw new Error(`${(error as Error).message} It is: ${seen.join(' | ')}`);
  });
}

/** The organization's only conversation, as members see it. */
async function inInbox({ org }: Bank) {
  return until(async () => {
    const { body } = await api.request('GET', `/support/inbox/orgs/${org.orgId}`, { token: org.owner.token });
    return body.conversations?.[0];
  }, 'a conversation in the inbox');
}

/** Waits until no work is left for an answer that is already shown. */
const settled = (convId: string) =>
  until(
    async () => (await db().collection('messages').countDocuments({ conv_id: convId, state: 'waiting' })) === 0,
    `the messages of ${convId} to be answered`,
  );

const act = async ({ org }: Bank, convId: string, name: string, body: object = {}) => {
  const path = `/support/inbox/orgs/${org.orgId}/${convId}/${name}`;
  const reply = await api.request('POST', path, { token: org.owner.token, body });
  expect(reply.status).toBeLessThan(300);
};

/** Records the states of an answer while it is being streamed. */
const watchBegun = (chat: Chat) =>
  chat.inside(`(() => {
    window.begun = [];
    const place = root.querySelector('.begun');
    new MutationObserver(() => {
      const text = place.querySelector('.body p')?.textContent;
      if (text) window.begun.push(text);
    }).observe(place, { childList: true, subtree: true, characterData: true });
  })()`);

/** Records the frames that the page's sockets send from now on. */
const watchSent = (page: Page) =>
  page.evaluate(`(() => {
    window.sent = [];
    const { send } = WebSocket.prototype;
    if (window.watched) return;
    window.watched = true;
    WebSocket.prototype.send = function (data) {
      window.sent.push(JSON.parse(data));
      send.call(this, data);
    };
  })()`);

/** The recorded frames of a type. */
const sentBy = (page: Page, type: string) =>
  page.evaluate(`window.sent.filter((frame) => frame.type === ${JSON.stringify(type)})`) as Promise<object[]>;

/** Serves a page of another site, on its own origin. */
async function otherPage(html: string, headers: Record<string, string> = {}): Promise<string> {
  const server = createServer((_, reply) => {
    reply.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...headers }).end(html);
  });
  const { url, close } = await listening(server);
  cleanups.push(close);
  return `${url}/`;
}

const embed = (attributes: string) =>
  `<!doctype html><html lang="en"><head><title>A page</title><script src="${api.url}/widget.js" ${attributes} async></script></head><body><main><h1>A page</h1></main></body></html>`;

describe('the widget', () => {
  it('the widget streams an answer visibly, shows its sources, and announces the finished answer once to screen readers', async () => {
    const { publishable } = await anyBank();
    const { chat } = await demo(publishable);
    await chat.open();
    await watchBegun(chat);
    await chat.say(question);
    await shows(chat, [`customer: ${question}`, answer]);
    const whole = (await chat.messages())[1]!.replace('ai: ', '');
    const begun = (await chat.inside('window.begun')) as string[];
    expect(begun.length).toBeGreaterThan(0);
    for (const part of begun) expect(whole.startsWith(part)).toBe(true);
    expect(await chat.inside("[...root.querySelectorAll('.sources li')].map((item) => item.textContent)")).toEqual([
      'help',
    ]);
    // An unfinished answer is not announced by screen readers.
    expect(await chat.inside("root.querySelector('[role=log]').contains(root.querySelector('.begun'))")).toBe(false);
    expect(await chat.inside("root.querySelector('.begun').textContent")).toBe('');
  });

  it('messages that are written while the widget is disconnected are sent once after reconnecting', async () => {
    const lindenbank = await bank();
    const wire = await wireTo(api.url);
    cleanups.push(() => wire.close());
    const { page, chat } = await demo(lindenbank.publishable, { url: wire.url });
    await chat.open();
    await chat.say(question);
    await shows(chat, [/^customer/, answer]);
    const { conv_id: convId } = await inInbox(lindenbank);

    wire.cut();
    await until(async () => (await chat.notes()).includes('connection was lost'), 'the sentence about the connection');
    await chat.say('When is the branch in Rostock open?');
    await chat.say('Is anybody there?');
    const waiting = [
      'customer (waiting): When is the branch in Rostock open?',
      'customer (waiting): Is anybody there?',
    ];
    await shows(chat, [/^customer/, answer, ...waiting]);
    // A member's message that is written meanwhile arrives too.
    await act(lindenbank, convId, 'reply', { body: 'Hello, this is Test Person.' });

    wire.mend();
    await until(async () => !(await chat.notes()).includes('connection was lost'), 'the connection');
    await until(async () => !(await chat.messages()).some((line) => line.includes('(waiting)')), 'nothing to wait');
    await until(async () => (await chat.messages()).some((line) => line.startsWith('agent: Hello')), 'the reply');
    const seen = await chat.messages();
    const stored = async () => {
      const path = `/support/inbox/orgs/${lindenbank.org.orgId}/${convId}`;
      const { body } = await api.request('GET', path, { token: lindenbank.org.owner.token });
      return (body.messages as { role: string; body: string }[]).map((message) => `${message.role}: ${message.body}`);
    };
    expect((await stored()).sort()).toEqual(seen.sort());

    // After a reload the page shows the same messages, in the server's order.
    await page.reload();
    await shows(chat, await stored());
  });

  it('the widget tells the customer when they exceed the rate limit, and keeps every message', async () => {
    const lindenbank = await bank();
    const { chat } = await demo(lindenbank.publishable);
    await chat.open();
    // Twenty messages a minute are allowed. A script writes them, because typing on a busy machine could take longer
    // than a minute.
    await chat.inside(`(() => {
      for (let count = 1; count <= 23; count += 1) {
        root.querySelector('textarea').value = 'Message ' + count;
        root.querySelector('.compose').requestSubmit();
      }
    })()`);
    await until(async () => (await chat.notes()).includes('very quick'), 'the sentence about speed');
    const sent = (await chat.messages()).filter((line) => line.startsWith('customer'));
    const written = Array.from({ length: 23 }, (_, index) => `Message ${index + 1}`);
    expect(sent.map((line) => line.replace(/^customer( \(waiting\))?: /, ''))).toEqual(written);
    // The refusal may come before the acknowledgement of the previous message.
    expect(sent.slice(20)).toEqual(written.slice(20).map((body) => `customer (waiting): ${body}`));
    const { conv_id: convId } = await inInbox(lindenbank);
    const stored = { conv_id: convId, role: 'customer' };
    const taken = await db()
      .collection('messages')
      .find(stored, { sort: { position: 1 } })
      .toArray();
    expect(taken.map(({ body }) => body)).toEqual(written.slice(0, 20));
  });

  it('the widget keeps unsent messages when the page is closed', async () => {
    const { publishable } = await anyBank();
    const wire = await wireTo(api.url);
    cleanups.push(() => wire.close());
    const { page, chat } = await demo(publishable, { url: wire.url });
    await chat.open();
    await chat.say(question);
    await shows(chat, [/^customer/, answer]);
    wire.cut();
    await chat.say('When is the branch in Rostock open?');
    await shows(chat, [/^customer/, answer, /waiting/]);
    // While the connection is cut, the page itself might not load, so the connection is repaired before the reload.
    wire.mend();
    await page.reload();
    await shows(chat, [/^customer/, answer, 'customer: When is the branch in Rostock open?', /8:30/]);
  });

  it('the widget shows an escalation, and a member’s reply under the member’s name', async () => {
    const lindenbank = await bank();
    const { page, chat } = await demo(lindenbank.publishable);
    await chat.open();
    await chat.say('I want to talk to a human, please.');
    await until(async () => (await chat.notes()).includes('has been called'), 'the sentence about a person');
    const { conv_id: convId } = await inInbox(lindenbank);
    await act(lindenbank, convId, 'reply', { body: 'Good day! See https://bank.example/cards.' });
    await until(async () => (await chat.messages()).at(-1)?.startsWith('agent:'), 'the reply');
    expect(await chat.inside("root.querySelector('.agent .face').textContent")).toBe('TP');
    expect(await chat.inside("root.querySelector('.agent .by').textContent")).toContain('Test Person · Support team');
    expect(
      await chat.inside("[...root.querySelectorAll('.agent a')].map((a) => [a.href, a.rel, a.textContent])"),
    ).toEqual([['https://bank.example/cards', 'noopener noreferrer', 'https://bank.example/cards']]);
    await until(async () => (await chat.notes()) === '', 'nobody to be awaited');

    await failOnce(page, 'end');
    await (await chat.find('[aria-label="End conversation"]')).click();
    await (await chat.find('.rating input[value="4"]')).click();
    await (await chat.find('.rating .primary')).click();
    await until(async () => (await chat.notes()).includes('Thank you for your rating.'), 'thanks');
    expect(await inInbox(lindenbank)).toMatchObject({ conv_id: convId, status: 'resolved', csat: 4 });
  });

  it('while the chat is open, the widget’s launcher is a button that closes the chat', async () => {
    const { publishable } = await anyBank();
    const { chat } = await demo(publishable);
    const launcher = () =>
      chat.inside(`[
        root.querySelector('.launcher').getAttribute('aria-expanded'),
        root.querySelector('.launcher').getAttribute('aria-label'),
        [...root.querySelectorAll('.launcher svg')].filter((icon) => icon.checkVisibility()).map((icon) => icon.className.baseVal),
        root.querySelector('.panel').checkVisibility(),
      ]`);
    await chat.find('.launcher');
    expect(await launcher()).toEqual(['false', 'Open chat', ['when-closed'], false]);
    await chat.open();
    expect(await launcher()).toEqual(['true', 'Close chat', ['when-open'], true]);
    await (await chat.find('.launcher')).click();
    expect(await launcher()).toEqual(['false', 'Open chat', ['when-closed'], false]);
  });

  it('the widget keeps the newest message in view when the rating form appears', async () => {
    const { publishable } = await anyBank();
    const { chat } = await demo(publishable);
    await chat.open();
    for (const _ of [1, 2, 3]) {
      const before = (await chat.messages()).length;
      await chat.say(question);
      await until(async () => (await chat.messages()).length === before + 2, 'the answer');
    }
    /** By how many pixels the end of the newest message is below the visible area, or covered by the rating form. */
    const hidden = () =>
      chat.inside(`(() => {
        const [list, newest] = [root.querySelector('.scroll'), root.querySelector('[role=log] .entry:last-child')];
        return Math.max(0, newest.getBoundingClientRect().bottom - list.getBoundingClientRect().bottom);
      })()`);
    await until(async () => (await hidden()) === 0, 'the newest message to be seen');
    await (await chat.find('[aria-label="End conversation"]')).click();
    await chat.find('.rating .primary');
    await until(async () => (await hidden()) === 0, 'the newest message to be seen again');
  });

  it('the widget sends a rating once, so that reconnecting does not end a conversation that a member has reopened', async () => {
    const lindenbank = await bank();
    const wire = await wireTo(api.url);
    cleanups.push(() => wire.close());
    const { page, chat } = await demo(lindenbank.publishable, { url: wire.url });
    await chat.open();
    await watchSent(page);
    await chat.say(question);
    await shows(chat, [/^customer/, answer]);
    const { conv_id: convId } = await inInbox(lindenbank);
    await (await chat.find('[aria-label="End conversation"]')).click();
    await act(lindenbank, convId, 'resolve');
    await until(async () => (await inInbox(lindenbank)).status === 'resolved', 'the member to have resolved it');
    await (await chat.find('.rating input[value="4"]')).click();
    await (await chat.find('.rating .primary')).click();
    await until(async () => (await inInbox(lindenbank)).csat === 4, 'the rating');
    await act(lindenbank, convId, 'reply', { body: 'One more thing.' });
    await until(async () => (await chat.messages()).at(-1)?.includes('One more thing.'), 'the reply');
    wire.cut();
    wire.mend();
    await chat.say('Yes?');
    await until(async () => (await inInbox(lindenbank)).preview === 'Yes?', 'the message');
    expect(await sentBy(page, 'end')).toHaveLength(1);
    expect(await inInbox(lindenbank)).toMatchObject({ status: 'escalated', csat: 4 });
  });

  it('the widget shows one conversation in all tabs of a customer', async () => {
    const { publishable } = await anyBank();
    const { page, chat } = await demo(publishable);
    await chat.open();
    await chat.say(question);
    await shows(chat, [/^customer/, answer]);
    const second = await page.browserContext().newPage();
    await second.goto(page.url());
    const other = chatOn(second);
    await other.open();
    await shows(other, await chat.messages());
    await other.say('When is the branch in Rostock open?');
    await shows(chat, [/^customer/, answer, 'customer: When is the branch in Rostock open?', /8:30/]);
    await shows(other, await chat.messages());
  });

  it('two tabs in which the widget is opened at the same moment share one visitor and one conversation', async () => {
    const lindenbank = await bank();
    const { page, chat } = await demo(lindenbank.publishable);
    const second = await page.browserContext().newPage();
    await second.goto(page.url());
    const other = chatOn(second);
    await Promise.all([chat.find('.launcher'), other.find('.launcher')]);
    // Simulates two tabs that both found no id and made one; the second tab was the last to store its id.
    const name = `support-widget:${lindenbank.publishable}:visitor-id`;
    const id = 'b'.repeat(32);
    await second.evaluate(`localStorage.setItem(${JSON.stringify(name)}, '${id}')`);
    // A tab learns with a delay what another tab has stored.
    await page.waitForFunction(`localStorage.getItem(${JSON.stringify(name)}) === '${id}'`, { polling: 20 });
    // The browser shows one tab at a time, but both connect and write at once.
    await Promise.all([page, second].map((tab) => tab.evaluate('SupportWidget.open()')));
    const say = (text: string) => `(() => {
      const root = document.querySelector('support-widget').shadowRoot;
      root.querySelector('textarea').value = '${text}';
      root.querySelector('.compose').requestSubmit();
    })()`;
    await Promise.all([page.evaluate(say('When is the branch open?')), second.evaluate(say(question))]);
    for (const tab of [chat, other]) await until(async () => (await tab.messages()).length === 4, 'both answers');
    const sorted = async (tab: Chat) => (await tab.messages()).toSorted();
    expect(await sorted(other)).toEqual(await sorted(chat));
    const { body } = await api.request('GET', `/support/inbox/orgs/${lindenbank.org.orgId}`, {
      token: lindenbank.org.owner.token,
    });
    expect(body.count).toBe(1);
  });

  it('the widget counts unread messages while it is closed, until they are read', async () => {
    const lindenbank = await bank();
    const { page, chat } = await demo(lindenbank.publishable);
    await chat.open();
    await chat.say(question);
    await shows(chat, [/^customer/, answer]);
    await page.keyboard.press('Escape');
    const { conv_id: convId } = await inInbox(lindenbank);
    await act(lindenbank, convId, 'reply', { body: 'One more thing.' });
    await chat.find('[aria-label="Open chat, 1 new message"]');
    expect(await chat.inside("root.querySelector('.badge').textContent")).toBe('1');
    // A visitor who has written before also sees the number of new messages after a page load.
    await page.reload();
    await (await chat.find('[aria-label="Open chat, 1 new message"]')).click();
    await page.keyboard.press('Escape');
    await chat.find('[aria-label="Open chat"]');
  });

  it('the widget does not connect or create a conversation before it is opened', async () => {
    const lindenbank = await bank();
    const { page, chat } = await demo(lindenbank.publishable);
    // Each socket records whether the launcher had been pressed when the socket was created.
    await page.evaluateOnNewDocument(`
      window.pressed = false;
      window.made = [];
      addEventListener('click', () => (window.pressed = true), { capture: true });
      window.WebSocket = class extends WebSocket {
        constructor(...given) {
          super(...given);
          window.made.push(window.pressed);
        }
      };`);
    await page.reload();
    await chat.open();
    // By now, a socket that was created too early would be in the list.
    await chat.say(question);
    await shows(chat, [/^customer/, answer]);
    const made = (await page.evaluate('window.made')) as boolean[];
    expect([made.length > 0, made.filter((pressed) => !pressed)]).toEqual([true, []]);
  });

  it('the widget identifies the customer by a minted session, and when that session is revoked, says so and keeps the focus', async () => {
    const lindenbank = await bank();
    const email = 'ada@customer.example';
    const session = await api.newSession(lindenbank.org, { key: lindenbank.key, body: { customer: { email } } });
    const url = await otherPage(embed(`data-session-token="${session.token}" data-locale="en"`));
    const { context, chat } = await visit(browser, url);
    cleanups.push(() => context.close());
    await chat.open();
    await chat.say(question);
    await shows(chat, [/^customer/, answer]);
    expect((await inInbox(lindenbank)).customer).toMatchObject({ email, verified: true });
    const ground = () => chat.inside("getComputedStyle(root.querySelector('textarea')).backgroundColor");
    const before = await ground();
    await chat.inside("root.querySelector('.compose .primary').focus()");
    const path = `/support/sessions/orgs/${lindenbank.org.orgId}/${session.sessionId}/revoke`;
    await api.request('POST', path, { token: lindenbank.org.owner.token });
    await until(async () => (await chat.notes()).includes('session has ended'), 'the sentence about the session');
    expect(await chat.inside("root.querySelector('textarea').readOnly")).toBe(true);
    expect(await ground()).not.toBe(before);
    expect(await chat.inside('root.activeElement?.id')).toBe('input');
  });

  it('identify() with a new session of the same customer keeps the messages, the text that is being written, and the focus', async () => {
    const { org, key } = await anyBank();
    const body = { customer: { externalCustomerId: 'customer-1' } };
    const former = await api.newSession(org, { key, body });
    const next = await api.newSession(org, { key, body });
    const url = await otherPage(embed(`data-session-token="${former.token}" data-locale="en"`));
    const { page, context, chat } = await visit(browser, url);
    cleanups.push(() => context.close());
    await chat.open();
    await chat.say(question);
    await shows(chat, [/^customer/, answer]);
    await (await chat.find('textarea')).type('When is the branch');
    await chat.inside(`(() => {
      window.changes = 0;
      new MutationObserver((all) => (window.changes += all.length))
        .observe(root.querySelector('[role=log]'), { childList: true });
    })()`);
    const focused = () =>
      chat.inside('(({ id, value, readOnly }) => ({ id, value, readOnly }))(root.activeElement ?? {})');
    const path = `/support/sessions/orgs/${org.orgId}/${former.sessionId}/revoke`;
    await api.request('POST', path, { token: org.owner.token });
    await until(async () => (await chat.notes()).includes('session has ended'), 'the sentence about the session');
    await page.keyboard.press('Enter');
    expect(await focused()).toEqual({ id: 'input', value: 'When is the branch', readOnly: true });
    await page.evaluate(`SupportWidget.identify(${JSON.stringify({ sessionToken: next.token })})`);
    await until(async () => (await chat.notes()) === '', 'the new session');
    expect(await focused()).toEqual({ id: 'input', value: 'When is the branch', readOnly: false });
    expect(await page.evaluate('window.changes')).toBe(0);
    await page.keyboard.type(' in Rostock open?');
    await page.keyboard.press('Enter');
    await shows(chat, [/^customer/, answer, 'customer: When is the branch in Rostock open?', /8:30/]);
  });

  it('identify() switches the widget to another customer’s conversation, without leaking anything from one into the other', async () => {
    const lindenbank = await bank();
    const path = `/support/sessions/orgs/${lindenbank.org.orgId}/embed-secret`;
    const { body } = await api.request('POST', path, { token: lindenbank.key, body: {} });
    const email = 'Grace@customer.example';
    const sig = createHmac('sha256', body.embed_secret).update(email.toLowerCase()).digest('hex');
    const { page, chat } = await demo(lindenbank.publishable);
    await chat.open();
    await chat.say(question);
    await shows(chat, [/^customer/, answer]);
    await watchSent(page);
    await (await chat.find('textarea')).type('My PIN is');
    await chat.inside("(root.querySelector('.contact input').value = 'ada@customer.example')");
    await page.evaluate(`SupportWidget.identify(${JSON.stringify({ email, sig })})`);
    await page.evaluate("SupportWidget.update({ name: 'Grace Hopper', balance: '12.34' })");
    await shows(chat, []);
    const typed = "[...root.querySelectorAll('textarea, .contact input')].map(({ value }) => value)";
    expect(await chat.inside(typed)).toEqual(['', '']);
    await chat.say('When is the branch in Rostock open?');
    await shows(chat, [/^customer: When is/, /8:30/]);
    expect((await inInbox(lindenbank)).customer).toMatchObject({ email: email.toLowerCase(), verified: true });
    expect(await sentBy(page, 'context_update')).not.toEqual([]);
    await watchSent(page);
    await page.evaluate('SupportWidget.identify(null)');
    await shows(chat, [`customer: ${question}`, answer]);
    // If the widget had kept the context, it would have sent the context before this answer.
    await chat.say('When is the branch in Rostock open?');
    await shows(chat, [`customer: ${question}`, answer, /^customer: When is/, /8:30/]);
    expect(await sentBy(page, 'context_update')).toEqual([]);
  });

  it('destroy() removes the widget and its connection from the page', async () => {
    const { publishable } = await anyBank();
    const { page, chat } = await demo(publishable);
    const network = await page.createCDPSession();
    await network.send('Network.enable');
    const closed = new Promise((resolve) => network.once('Network.webSocketClosed', resolve));
    await chat.open();
    await chat.say(question);
    await shows(chat, [/^customer/, answer]);
    await page.evaluate('SupportWidget.destroy()');
    await closed;
    await until(async () => (await page.$('support-widget')) === null, 'the widget to be gone');
    expect(await page.evaluate("'SupportWidget' in window")).toBe(false);
  });

  it('the widget says that the chat is not available when the publishable key is unknown', async () => {
    const { chat } = await demo(`svc_pk_test_${'x'.repeat(38)}`);
    await (await chat.find('.launcher')).click();
    await until(async () => (await chat.notes()).includes('not available'), 'the sentence');
  });
});

describe('the look that an organization chose', () => {
  const configure = async ({ org }: Bank, path: string, body: object) => {
    const reply = await api.request('PUT', path.replace('{org}', org.orgId), { token: org.owner.token, body });
    expect(reply.status).toBe(200);
  };
  const colourOf = (chat: Chat) =>
    chat.inside("getComputedStyle(root.querySelector('.root')).getPropertyValue('--accent').trim()");

  it('the widget shows the configured colour, logo, greeting and names, and a click on a suggested question asks it', async () => {
    const lindenbank = await bank();
    const greetings = { en: { greeting: 'Welcome to Lindenbank.', starters: [question] } };
    await configure(lindenbank, '/support/widget/orgs/{org}', { accent: '#0a5c36', agent_name: 'Linda', greetings });
    for (const picture of ['logo', 'avatar']) {
      const form = new FormData();
      form.append('file', new Blob([pixel]), 'picture.png');
      const path = `/support/widget/orgs/${lindenbank.org.orgId}/${picture}`;
      expect((await api.request('PUT', path, { token: lindenbank.org.owner.token, form })).status).toBe(200);
    }
    const { page, chat } = await demo(lindenbank.publishable);
    await chat.open();
    expect(await colourOf(chat)).toBe('#0a5c36');
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
    expect(await colourOf(chat)).toBe(accentsOf('#0a5c36').dark);
    await until(() => chat.inside("root.querySelector('.bar img').naturalWidth === 1"), 'the logo');
    expect(await chat.inside("root.querySelector('.greeting').textContent")).toBe('Welcome to Lindenbank.');
    await (await chat.find('.starters button')).click();
    await shows(chat, [`customer: ${question}`, answer]);
    expect(await chat.inside("root.querySelector('.starters').checkVisibility()")).toBe(false);
    expect(await chat.inside("root.querySelector('.ai .by').textContent")).toContain('Linda · Assistant');
    await until(() => chat.inside("root.querySelector('.ai .face img').naturalWidth === 1"), 'the agent’s picture');
    // At the next visit the widget has this look from the beginning.
    expect(await page.evaluate("Object.keys(localStorage).some((name) => name.endsWith(':look'))")).toBe(true);
  });

  it('outside the team’s hours the widget says that nobody is there or, if so configured, is hidden', async () => {
    const lindenbank = await bank();
    const never = { timezone: 'Europe/Berlin', week: {}, closed: [], away_message: null };
    await configure(lindenbank, '/orgs/{org}/hours', { hours: never });
    const hours = (of: Chat) => of.inside("root.querySelector('.hours').textContent");
    const { page: standing, chat } = await demo(lindenbank.publishable);
    await standing.setCacheEnabled(false);
    await chat.open();
    expect(await hours(chat)).toBe('Nobody is here now');
    // A page that stays open reads the hours again when the chat is opened.
    const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
    const week = Object.fromEntries(days.map((day) => [day, [{ from: '00:00', until: '24:00' }]]));
    await configure(lindenbank, '/orgs/{org}/hours', { hours: { ...never, week } });
    await until(async () => {
      await standing.keyboard.press('Escape');
      await chat.open();
      return (await hours(chat)) === 'We are here';
    }, 'the widget to read the hours again');
    await configure(lindenbank, '/orgs/{org}/hours', { hours: never });
    await configure(lindenbank, '/support/widget/orgs/{org}', { outside: 'hide' });
    await until(async () => {
      const reply = await fetch(`${api.url}/widget/organizations/${lindenbank.publishable}`);
      const { outside, open } = (await reply.json()) as { outside: string; open: boolean };
      return outside === 'hide' && !open;
    }, 'every process to know');
    const { page, chat: hidden } = await demo(lindenbank.publishable);
    await until(
      () => page.evaluate("Object.keys(localStorage).some((name) => name.endsWith(':look'))") as Promise<boolean>,
      'the widget to know how it looks',
    );
    expect(await hidden.inside("root.querySelector('.launcher').checkVisibility()")).toBe(false);
  });

  it('a visitor who waits for a person can give an e-mail address by keyboard, and is not asked again', async () => {
    const lindenbank = await bank();
    // The widget asks for an address only when the organization can send mails. This integration allows that; no mail
    // is sent here.
    await db()
      .collection<{ _id: string }>('integrations')
      .insertOne({
        _id: `${lindenbank.org.orgId}:email`,
        org_id: lindenbank.org.orgId,
        provider: 'email',
        sealed: 'a mail server',
        settings: {},
      } as { _id: string });
    const { page, chat } = await demo(lindenbank.publishable);
    await chat.open();
    await chat.say('I want to talk to a human, please.');
    const input = await chat.find('.contact input');
    await failOnce(page, 'contact');
    await input.type('nobody');
    await input.press('Enter');
    await input.type('@customer.example');
    await page.keyboard.press('Enter');
    await until(async () => (await chat.notes()).includes('also comes by e-mail'), 'thanks');
    expect((await inInbox(lindenbank)).customer).toMatchObject({
      contact_email: 'nobody@customer.example',
      verified: false,
    });
    const again = chatOn(page);
    await page.reload();
    await until(async () => (await again.messages()).length > 0, 'the conversation');
    expect(await again.inside("root.querySelector('.contact').checkVisibility()")).toBe(false);
  });
});

describe('messages before the last hundred', () => {
  /** A conversation with `count` messages besides the first two, and the widget opened on it. */
  async function longConversation(count: number) {
    const lindenbank = await bank();
    const { page, chat } = await demo(lindenbank.publishable);
    await chat.open();
    await chat.say(question);
    await shows(chat, [/^customer/, answer]);
    const { conv_id: convId } = await inInbox(lindenbank);
    await settled(convId);
    const base = { org_id: lindenbank.org.orgId, conv_id: convId, mode: 'test' };
    const added = Array.from({ length: count }, (_, index) => ({
      ...base,
      _id: `msg_${convId}_${index}`,
      role: index % 2 === 0 ? 'agent' : 'customer',
      body: `Number ${index}`,
      position: 10 + index,
      at: new Date(),
    }));
    await db().collection<{ _id: string }>('messages').insertMany(added);
    await db()
      .collection<{ _id: string }>('conversations')
      .updateOne({ _id: convId }, { $set: { position: 10 + count } });
    await page.reload();
    return { page, chat, bodies: added.map(({ role, body }) => `${role}: ${body}`) };
  }
  const topOf = (chat: Chat, text: string) =>
    chat.inside(
      `[...root.querySelectorAll('.entry')].find((entry) => entry.querySelector('.body').textContent === '${text}').getBoundingClientRect().top`,
    );

  it('messages before the last hundred are loaded page by page on request, and the scroll position stays', async () => {
    const { chat, bodies } = await longConversation(220);
    await shows(chat, bodies.slice(120));
    // Scrolls to the top, where the button is.
    await chat.inside("root.querySelector('.scroll').scrollTop = 0");
    const more = await chat.find('.earlier');
    const before = Number(await topOf(chat, 'Number 120'));
    await more.click();
    await shows(chat, bodies.slice(20));
    expect(Math.abs(Number(await topOf(chat, 'Number 120')) - before)).toBeLessThanOrEqual(1);
    await chat.inside("root.querySelector('.scroll').scrollTop = 0");
    await (await chat.find('.earlier')).click();
    await shows(chat, [`customer: ${question}`, answer, ...bodies]);
    expect(await chat.inside("root.querySelector('.earlier').hidden")).toBe(true);
    // New messages still appear at the end.
    await chat.say('When is the branch in Rostock open?');
    await until(async () => (await chat.messages()).at(-1)?.includes('8:30'), 'the answer');
    expect((await chat.messages()).slice(0, -2)).toEqual((await chat.messages()).slice(0, 222));
  });

  it('messages before the last hundred can be loaded by keyboard, and a screen reader announces them in one sentence', async () => {
    const { page, chat, bodies } = await longConversation(120);
    await shows(chat, bodies.slice(20));
    await (await chat.find('textarea')).focus();
    const focused = () => chat.inside('root.activeElement?.textContent');
    for (let tries = 0; (await focused()) !== 'Earlier messages'; tries += 1) {
      expect(tries).toBeLessThan(10);
      await page.keyboard.down('Shift');
      await page.keyboard.press('Tab');
      await page.keyboard.up('Shift');
    }
    await chat.inside(`(() => {
      window.announced = 0;
      new MutationObserver((all) => (window.announced += all.flatMap(({ addedNodes }) => [...addedNodes]).length))
        .observe(root.querySelector('[role=log]'), { childList: true });
    })()`);
    await page.keyboard.press('Enter');
    await shows(chat, [`customer: ${question}`, answer, ...bodies]);
    expect(await page.evaluate('window.announced')).toBe(0);
    expect(await chat.notes()).toBe('Earlier messages shown above: 22');
    expect(await chat.inside("root.activeElement.getAttribute('aria-label')")).toBe('Conversation');
  });

  it('messages before the last hundred are requested again when the connection was lost meanwhile', async () => {
    const lindenbank = await longConversation(120);
    const { chat, page, bodies } = lindenbank;
    await shows(chat, bodies.slice(20));
    const offline = await page.createCDPSession();
    const network = { latency: 0, downloadThroughput: -1, uploadThroughput: -1 };
    await offline.send('Network.enable');
    await offline.send('Network.emulateNetworkConditions', { ...network, offline: true });
    await until(async () => (await chat.notes()).includes('offline'), 'the sentence about the connection');
    await chat.inside("root.querySelector('.scroll').scrollTop = 0");
    await (await chat.find('.earlier')).click();
    await offline.send('Network.emulateNetworkConditions', { ...network, offline: false });
    await shows(chat, [`customer: ${question}`, answer, ...bodies]);
  });
});

describe('an answer that is streamed slowly', () => {
  const text = 'A new card arrives within three working days, and it costs nothing.';
  const whole = JSON.stringify({ answered: true, sources: [1], answer: text });
  let model: OpenAiServer;
  let env: SystemEnv;
  let server: Running;
  let worker: Running;
  beforeAll(async () => {
    model = await startOpenAiServer();
    env = systemEnv('widget', {
      OPENAI_BASE_URL: model.baseUrl,
      OPENAI_MODEL: 'm',
      // The timeout is longer than the model pauses while an API process restarts and the widget reconnects.
      OPENAI_TIMEOUT_MS: '120000',
      FLEETS: 'documents,backlog,conversations',
    });
    [server, worker] = await Promise.all([startProcess('api/server.ts', env), startProcess('test/kit/worker.ts', env)]);
  });
  afterAll(async () => {
    await Promise.all([server.stop(), worker.stop()]);
    await model.close();
    await removeDataDir(env);
  });
  /** The model pauses its next answer after each of these texts, until the returned function for it is called. */
  function pausesAfter(...parts: string[]): (() => void)[] {
    const pauses = parts.map((part) => ({
      after: whole.indexOf(part) + part.length,
      ...Promise.withResolvers<void>(),
    }));
    model.reply = () => whole;
    model.script({ kind: 'paced', pauses: pauses.map(({ after, promise }) => ({ after, until: promise })) });
    return pauses.map(
      ({ resolve }) =>
        () =>
          resolve(),
    );
  }
  const begun = async (chat: Chat): Promise<string> =>
    (await chat.inside("(root.querySelector('.begun .body p')?.textContent ?? '').trim()")) as string;
  const sources = (chat: Chat) =>
    chat.inside("[...root.querySelectorAll('.sources li')].map((item) => item.textContent)");

  it('an answer that is streamed slowly grows piece by piece, and shows its sources at the end', async () => {
    const { publishable } = await bank(help, apiAt(server.url));
    const { chat } = await demo(publishable, { url: server.url });
    const [first, second] = pausesAfter('A new card ', 'three working days, ');
    await chat.open();
    await chat.say(question);
    await until(async () => (await begun(chat)) === 'A new card', 'the first piece');
    expect(await chat.messages()).toEqual([`customer: ${question}`]);
    first!();
    await until(
      async () => (await begun(chat)) === 'A new card arrives within three working days,',
      'the second piece',
    );
    expect([await chat.messages(), await sources(chat)]).toEqual([[`customer: ${question}`], []]);
    second!();
    await shows(chat, [`customer: ${question}`, `ai: ${text}`]);
    expect([await begun(chat), await sources(chat)]).toEqual(['', ['help']]);
  });

  it('an answer that is streamed slowly is shown once and completely even when the API is killed in the middle and restarted', async () => {
    const { org, publishable } = await bank(help, apiAt(server.url));
    const wire = await wireTo(server.url);
    cleanups.push(() => wire.close());
    const { chat } = await demo(publishable, { url: wire.url });
    const [first, second] = pausesAfter('A new card ', 'three working days, ');
    await chat.open();
    await chat.say(question);
    await until(async () => (await begun(chat)) === 'A new card', 'the first piece');
    await server.kill();
    await until(async () => (await chat.notes()).includes('connection was lost'), 'the sentence about the connection');
    // The existing messages stay readable, and new ones wait.
    expect(await begun(chat)).toBe('A new card');
    first!();
    await chat.say('Thank you!');
    server = await startProcess('api/server.ts', env);
    wire.lead(server.url);
    await until(
      async () => (await begun(chat)) === 'A new card arrives within three working days,',
      'the second piece',
    );
    second!();
    await until(async () => (await chat.messages()).includes(`ai: ${text}`), 'the answer');
    await until(async () => (await chat.messages()).length === 4, 'the second answer');
    const seen = await chat.messages();
    expect(seen.toSorted()).toEqual(
      ['customer: Thank you!', `customer: ${question}`, seen.at(-1)!, `ai: ${text}`].toSorted(),
    );
    const { body } = await apiAt(server.url).request('GET', `/support/inbox/orgs/${org.orgId}`, {
      token: org.owner.token,
    });
    const path = `/support/inbox/orgs/${org.orgId}/${body.conversations[0].conv_id}`;
    const stored = await apiAt(server.url).request('GET', path, { token: org.owner.token });
    const told = (stored.body.messages as { role: string; body: string }[]).map(({ role, body }) => `${role}: ${body}`);
    expect(told.toSorted()).toEqual(seen.toSorted());
  });
});

describe('hostile text', () => {
  it('markup in an answer, its source or a member’s reply is shown as text', async () => {
    const hostile = '<img src=x onerror="window.hurt=1"> [click](javascript:window.hurt=2)';
    const lindenbank = await bank(
      `# Wombat fees\n\nThe wombat fee is 7 EUR. \`${hostile}\` belongs to the wombat fee.\n`,
    );
    const { page, chat } = await demo(lindenbank.publishable);
    await chat.open();
    await chat.say(`What is the wombat fee? ${hostile}`);
    await shows(chat, [/^customer.*<img src=x/, /7 EUR/]);
    const { conv_id: convId } = await inInbox(lindenbank);
    await act(lindenbank, convId, 'reply', { body: `${hostile} javascript:window.hurt=3` });
    await until(async () => (await chat.messages()).at(-1)?.startsWith('agent: <img'), 'the reply');
    expect(await chat.inside('root.querySelectorAll(\'img, .body script, a[href^="javascript"]\').length')).toBe(0);
    expect(await page.evaluate('window.hurt')).toBe(undefined);
  });
});

describe('a page of another site', () => {
  it('the widget works in a page with a strict CSP and Trusted Types, and adds no global name except its own', async () => {
    const { publishable } = await anyBank();
    const html = embed(`data-key="${publishable}" data-locale="en"`).replace(
      '</head>',
      '<link rel="stylesheet" href="/style.css"></head>',
    );
    const policy = [
      "default-src 'none'",
      `script-src ${api.url}`,
      `connect-src ${api.url} ${api.url.replace('http', 'ws')}`,
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ].join('; ');
    const url = await otherPage(html, { 'content-security-policy': policy });
    const context = await browser.createBrowserContext();
    cleanups.push(() => context.close());
    const page = await context.newPage();
    await page.evaluateOnNewDocument(
      "window.before = Object.getOwnPropertyNames(window); window.violations = []; document.addEventListener('securitypolicyviolation', (event) => window.violations.push(event.effectiveDirective + ' ' + event.blockedURI))",
    );
    await page.goto(url);
    const chat = chatOn(page);
    await chat.open();
    await chat.say(question);
    await shows(chat, [/^customer/, answer]);
    // The page's own policy blocks its stylesheet, which shows that the policy is in force.
    expect(await page.evaluate('window.violations')).toEqual([`style-src-elem ${url}style.css`]);
    expect(await chat.inside("getComputedStyle(root.querySelector('.panel')).position")).toBe('fixed');
    const added = 'Object.getOwnPropertyNames(window).filter((name) => !window.before.includes(name))';
    expect(((await page.evaluate(added)) as string[]).sort()).toEqual(['SupportWidget', 'before', 'violations']);
  });

  it('in a page that may not use the browser’s storage, the widget works as long as the page is open', async () => {
    const { publishable } = await anyBank();
    const context = await browser.createBrowserContext();
    cleanups.push(() => context.close());
    const page = await context.newPage();
    await page.evaluateOnNewDocument(
      "for (const name of ['localStorage', 'sessionStorage']) Object.defineProperty(window, name, { get() { throw new DOMException('blocked', 'SecurityError'); } })",
    );
    await page.goto(await otherPage(embed(`data-key="${publishable}" data-locale="en"`)));
    const chat = chatOn(page);
    await chat.open();
    await chat.say(question);
    await shows(chat, [/^customer/, answer]);
  });
});

describe('an answer that offers sections', () => {
  const headings = ['Opening hours', 'Lost card'];
  /** A conversation whose last answer offers the sections in `headings`, and the widget opened on it. */
  async function offered() {
    const lindenbank = await bank();
    const { page, chat } = await demo(lindenbank.publishable);
    await chat.open();
    await chat.say(question);
    await shows(chat, [/^customer/, answer]);
    const { conv_id: convId } = await inInbox(lindenbank);
    await settled(convId);
    const messages = db().collection<{ _id: string; org_id: string; mode: string; sources: { id: string }[] }>(
      'messages',
    );
    const before = (await messages.findOne({ conv_id: convId, role: 'ai' }))!;
    const chunks = await db()
      .collection<{ _id: string; heading: string }>('chunks')
      .find({ org_id: before.org_id })
      .toArray();
    const source = { type: 'document', id: before.sources[0]!.id, name: 'help.md' };
    const offers = headings.map((heading) => {
      const passage = chunks.find((chunk) => chunk.heading.endsWith(heading))!._id;
      return { heading, question: heading, says: '', source, passage };
    });
    const body = `This may help:\n${headings.map((heading) => `- ${heading}`).join('\n')}`;
    const said = { has_context: true, confidence: 'low', sources: [source], offers, at: new Date() };
    const place = { org_id: before.org_id, conv_id: convId, mode: before.mode, role: 'ai', position: 10 };
    const fresh = { _id: `msg_${convId}_offer`, body, ...place, ...said };
    await messages.insertOne(fresh);
    await db()
      .collection<{ _id: string }>('conversations')
      .updateOne({ _id: convId }, { $set: { position: 10 } });
    await page.reload();
    await showOffers(chat);
    return { page, chat };
  }
  /** Opens the widget of a page that was just loaded if it is closed: on a phone it does not open by itself. */
  async function showOffers(chat: Chat): Promise<void> {
    await until(async () => chat.inside("root?.querySelector('.panel') != null"), 'the widget');
    if (await chat.inside("root.querySelector('.panel').hidden")) await chat.open();
    await chat.find('.offers button');
  }
  const inOffers = (chat: Chat) =>
    chat.inside("[...root.querySelectorAll('.offers button')].map((button) => button.textContent)");

  it('an answer that offers sections shows them as buttons, and pressing a button asks for that section', async () => {
    const { chat } = await offered();
    expect((await chat.messages()).at(-1)).toBe('ai: This may help:');
    expect(await inOffers(chat)).toEqual(headings);
    await (await chat.find('.offers button')).click();
    await until(async () => (await chat.messages()).at(-1)?.includes('8:30'), 'the answer');
    expect((await chat.messages()).at(-2)).toBe('customer: Opening hours');
  });

  it('an answer that offers sections has buttons that are reachable by keyboard, keep the focus, and form a named group', async () => {
    const { page, chat } = await offered();
    await (await chat.find('textarea')).focus();
    const focused = () => chat.inside("root.activeElement?.closest('.offers') && root.activeElement.textContent");
    await page.keyboard.down('Shift');
    for (let tries = 0; tries < 9 && (await focused()) !== headings[1]; tries += 1) await page.keyboard.press('Tab');
    await page.keyboard.up('Shift');
    expect(await focused()).toBe(headings[1]);
    await page.keyboard.press('Enter');
    await until(async () => (await chat.messages()).at(-1)?.includes('three working days'), 'the answer');
    expect(await focused()).toBe(headings[1]);
    expect(await chat.inside("root.querySelector('.offers').getAttribute('aria-label')")).toBe('Suggestions');
  });

  const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
  it('an answer that offers sections has no axe violations and no clipped button in five languages, light and dark', async () => {
    const { page, chat } = await offered();
    await page.setBypassCSP(true);
    for (const [theme, locale, width] of [
      ['light', 'en', 1000],
      ['dark', 'de', 1000],
      ['light', 'fr', 320],
      ['dark', 'es', 320],
      ['light', 'ar', 1000],
    ] as const) {
      await page.setViewport({ width, height: 760 });
      const url = new URL(page.url());
      url.searchParams.set('theme', theme);
      url.searchParams.set('locale', locale);
      await page.goto(url.href);
      await showOffers(chat);
      await page.addScriptTag({ path: axe });
      const found = await page.evaluate(
        "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) => [id, ...nodes.map(({ failureSummary }) => failureSummary)]))",
      );
      const wide = await chat.inside(
        "[...root.querySelectorAll('.offers button')].map((button) => button.scrollWidth <= button.clientWidth && button.clientHeight >= 40)",
      );
      expect({ theme, locale, width, found, wide }).toEqual({ theme, locale, width, found: [], wide: [true, true] });
    }
  });
});

describe('a customer without a mouse', () => {
  it('a customer can open, use, rate and close the chat by keyboard alone, with the focus always on a sensible element', async () => {
    const lindenbank = await bank();
    const { page, chat } = await demo(lindenbank.publishable);
    await chat.find('.launcher');
    const focused = () =>
      chat.inside(
        "root.activeElement && (root.activeElement.getAttribute('aria-label') ?? root.activeElement.textContent.trim() ?? '')",
      );
    const tabTo = async (name: string, back = false): Promise<void> => {
      for (let tries = 0; tries < 20; tries += 1) {
        if (back) await page.keyboard.down('Shift');
        await page.keyboard.press('Tab');
        if (back) await page.keyboard.up('Shift');
        if ((await focused()) === name) return;
      }
      throw new Error(`Tab does not lead to ${name}.`);
    };
    await tabTo('Open chat');
    await page.keyboard.press('Enter');
    await until(async () => (await chat.inside('root.activeElement?.id')) === 'input', 'the focus in the message');
    await page.keyboard.type('When does a new card arrive');
    // In Safari, an Enter that confirms a word of an input method comes after the composition.
    await chat.inside(
      "root.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', keyCode: 229, bubbles: true }))",
    );
    await page.keyboard.down('Shift');
    await page.keyboard.press('Enter');
    await page.keyboard.up('Shift');
    await page.keyboard.type('after I lost mine?');
    await page.keyboard.press('Enter');
    await shows(chat, ['customer: When does a new card arrive\nafter I lost mine?', answer]);
    await tabTo('Conversation', true);
    await tabTo('End conversation', true);
    await page.keyboard.press('Enter');
    expect(await focused()).toBe('1 of 5, poor');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    expect(await focused()).toBe('3 of 5');
    await tabTo('Send and end');
    await page.keyboard.press('Enter');
    await until(async () => (await inInbox(lindenbank)).csat === 3, 'the rating in the inbox');
    expect(await chat.inside('root.activeElement?.id')).toBe('input');
    // An Escape that only cancels a word of an input method leaves the panel open.
    await chat.inside(
      "root.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', keyCode: 229, bubbles: true }))",
    );
    expect(await chat.inside("root.querySelector('.panel').hidden")).toBe(false);
    await page.keyboard.press('Escape');
    expect(await focused()).toBe('Open chat');
    expect(await chat.inside("root.querySelector('.panel').hidden")).toBe(true);
  });

  it('on a phone the widget’s panel covers the page, traps the focus, and fits into 320 pixels', async () => {
    const { publishable } = await anyBank();
    const { page, chat } = await demo(publishable, { width: 320, height: 568 });
    await chat.open();
    await chat.say(`${question} ${'unbreakable'.repeat(20)}`);
    await until(async () => (await chat.messages()).length === 2, 'an answer');
    expect(await chat.inside("root.querySelector('.panel').getAttribute('aria-modal')")).toBe('true');
    const box =
      "(({ left, top, width, height }) => [left, top, width, height])(root.querySelector('.panel').getBoundingClientRect())";
    expect(await chat.inside(box)).toEqual([0, 0, 320, 568]);
    const wide = `[root.querySelector('.scroll'), root.querySelector('.panel'), document.documentElement].map((each) => each.scrollWidth - each.clientWidth)`;
    expect(await chat.inside(wide)).toEqual([0, 0, 0]);
    for (let step = 0; step < 12; step += 1) {
      await page.keyboard.press('Tab');
      expect(await chat.inside("root.querySelector('.panel').contains(root.activeElement)")).toBe(true);
    }
  });

  it('every control of the widget is visible at 200 % zoom of a small window', async () => {
    const { publishable } = await anyBank();
    const { chat } = await demo(publishable, { width: 640, height: 400 });
    await chat.open();
    const cut = `[...root.querySelectorAll('button, textarea')].filter((each) => each.checkVisibility()).filter((each) => {
      const { left, top, right, bottom } = each.getBoundingClientRect();
      return left < 0 || top < 0 || right > innerWidth || bottom > innerHeight;
    }).length`;
    expect(await chat.inside(cut)).toBe(0);
  });
});

describe('a customer with a screen reader', () => {
  it('a customer with a screen reader finds the main parts of the chat with their names and roles', async () => {
    const { publishable } = await anyBank();
    const { page, chat } = await demo(publishable, { title: 'Ask Lindenbank' });
    await chat.open();
    await chat.say(question);
    await shows(chat, [/^customer/, answer]);
    type Node = { role: string; name?: string; children?: Node[] };
    const named = (node: Node): string[] => [
      ...(['dialog', 'log', 'textbox', 'button', 'region', 'heading', 'list'].includes(node.role)
        ? [`${node.role} ${node.name ?? ''}`]
        : []),
      ...(node.children ?? []).flatMap(named),
    ];
    const tree = (await page.accessibility.snapshot({ interestingOnly: false })) as unknown as Node;
    const all = named(tree);
    for (const expected of [
      'dialog Ask Lindenbank',
      'heading Ask Lindenbank',
      'button End conversation',
      'button Close chat',
      'region Conversation',
      'log Messages',
      'list Sources',
      'textbox Your message',
      'button Send',
    ])
      expect(all).toContain(expected);
    expect(await chat.inside("root.querySelector('[role=log]').getAttribute('aria-live')")).toBe('polite');
  });

  const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
  it.each([
    ['light', 'ltr', 'en'],
    ['dark', 'rtl', 'ar'],
  ])('a customer with a screen reader gets a widget without axe violations (%s, %s)', async (theme, dir, locale) => {
    const lindenbank = await bank();
    const { page, chat } = await demo(lindenbank.publishable, { theme, dir, locale });
    await page.setBypassCSP(true);
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
    await page.reload();
    await page.addScriptTag({ path: axe });
    const check = async (): Promise<void> => {
      const found = (await page.evaluate(
        "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) => [id, ...nodes.map(({ target, failureSummary }) => [target, failureSummary])]))",
      )) as unknown[];
      expect(found).toEqual([]);
    };
    await chat.find('.launcher');
    await check();
    await chat.open();
    await chat.say('Is there a human being here? I want to talk to a human, please.');
    await until(async () => (await chat.notes()) !== '', 'the sentence about a person');
    await chat.say(question);
    const { conv_id: convId } = await inInbox(lindenbank);
    await act(lindenbank, convId, 'reply', { body: 'See https://bank.example/cards.' });
    await until(async () => (await chat.messages()).some((line) => line.startsWith('agent:')), 'the reply');
    await check();
    await (await chat.find('.bar button')).click();
    await (await chat.find('.rating input')).click();
    await check();
  });
});

/** Requests a file as a browser does that has the file in its cache. `fetch` would always request a fresh copy. */
async function statusWith(url: string, headers: Record<string, string>): Promise<number | undefined> {
  const [reply] = (await once(get(url, { headers }), 'response')) as [IncomingMessage];
  reply.resume();
  return reply.statusCode;
}

describe('GET /widget.js', () => {
  const files = async () => {
    const loader = await fetch(`${api.url}/widget.js`);
    const text = await loader.text();
    const version = /version = '([0-9a-f]+)'/.exec(text)![1]!;
    const found = new Map([['loader.ts', text]]);
    const wanted = ['main.ts'];
    for (const name of wanted) {
      const reply = await fetch(`${api.url}/widget/${version}/${name}`);
      expect([name, reply.status, reply.headers.get('content-type')]).toEqual([
        name,
        200,
        'text/javascript; charset=utf-8',
      ]);
      const source = await reply.text();
      found.set(name, source);
      for (const [, next] of source.matchAll(/from '\.\/([\w.]+)'/g)) if (!wanted.includes(next!)) wanted.push(next!);
    }
    return { found, version, loader };
  };

  it('the widget is less than 30 KB gzipped, with all the modules it loads', async () => {
    const { found } = await files();
    expect(found.size).toBeGreaterThan(8);
    const bytes = [...found.values()].reduce((sum, text) => sum + gzipSync(text).length, 0);
    expect(bytes).toBeLessThan(30 * 1024);
  });

  it('the widget’s script is revalidated by its ETag, and its modules are cached for ever', async () => {
    const { loader, version } = await files();
    expect(loader.headers.get('access-control-allow-origin')).toBe('*');
    expect(loader.headers.get('cache-control')).toBe('public, max-age=300');
    const etag = loader.headers.get('etag')!;
    expect(await statusWith(`${api.url}/widget.js`, { 'if-none-match': etag })).toBe(304);
    expect(await statusWith(`${api.url}/widget.js`, { 'if-none-match': '"another"' })).toBe(200);
    const module = await fetch(`${api.url}/widget/${version}/main.ts`);
    expect(module.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(module.headers.get('content-encoding')).toBe('gzip');
    const plain = await fetch(`${api.url}/widget/${version}/main.ts`, { headers: { 'accept-encoding': 'identity' } });
    expect([plain.headers.get('content-encoding'), await plain.text()]).toEqual([null, await module.text()]);
  });

  it('a widget module under another version’s address is served uncached, and an unknown module gets 404', async () => {
    const other = await fetch(`${api.url}/widget/0000/main.ts`);
    expect([other.status, other.headers.get('cache-control')]).toEqual([200, 'no-store']);
    for (const path of ['widget/0000/loader.ts', 'widget/0000/nothing.ts', 'widget/0000/..%2F..%2Fconfig.ts']) {
      expect([path, (await fetch(`${api.url}/${path}`)).status]).toEqual([path, 404]);
    }
  });

  it('GET /widget/organizations returns the organization of a publishable key or an organization id, and 404 for other text', async () => {
    const { org, key, publishable } = await bank();
    const reply = await fetch(`${api.url}/widget/organizations/${publishable}`);
    expect([reply.headers.get('access-control-allow-origin'), await reply.json()]).toEqual([
      '*',
      expect.objectContaining({ org_id: org.orgId }),
    ]);
    // A page that mints sessions has no key; its widget knows the organization from the session.
    expect((await fetch(`${api.url}/widget/organizations/${org.orgId}`)).status).toBe(200);
    const other = `${publishable.slice(0, -1)}${publishable.endsWith('x') ? 'y' : 'x'}`;
    for (const wrong of [key, other, 'svc_pk_test_', '%00', `${org.orgId}x`]) {
      expect([wrong, (await fetch(`${api.url}/widget/organizations/${wrong}`)).status]).toEqual([wrong, 404]);
    }
  });
});

describe('GET /demo', () => {
  it('the demonstration page passes known query parameters to the widget as escaped attributes, and ignores other parameters', async () => {
    const hostile = encodeURIComponent('"><script>alert(1)</script>');
    const reply = await fetch(`${api.url}/demo?key=${hostile}&theme=dark&onload=x`);
    const html = await reply.text();
    expect(html).toContain(
      '<script src="/widget.js" data-key="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;" data-theme="dark" async></script>',
    );
    expect(html).not.toContain('onload');
    expect(reply.headers.get('content-security-policy')).toContain("script-src 'self';");
  });
});
