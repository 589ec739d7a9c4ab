/**
 * The widget asks a customer to confirm a tool call or to prove their identity: in a real Chromium against the real
 * system.
 * Further tests use the keyboard, a screen reader, an unreliable connection, and a second tab.
 */
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { inputRequired } from '@modelcontextprotocol/server';
import type { Browser, Page, SerializedAXNode } from 'puppeteer';
import { chatOn, failOnce, startChromium, visit, wireTo, type Chat } from '../kit/chromium.ts';
import { system, until } from '../kit/harness.ts';
import { listening } from '../kit/listening.ts';
import { startTestMcp, type TestMcp, type TestTool } from '../kit/mcp-server.ts';
import type { RiskTier } from '../../models/rules/mcp/tool.ts';

const api = system();
const cleanups: (() => Promise<unknown> | void)[] = [];
let browser: Browser;
beforeAll(async () => {
  browser = await startChromium(process.env['TEST_CHROMIUM']!);
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});
afterAll(() => browser.close());

const please = 'Please cancel my order A-1042';
const inputSchema = { type: 'object', properties: { order_number: { type: 'string' } }, required: ['order_number'] };

/** An organization with one tool of this tier. */
async function shop(risk_tier: RiskTier, answer?: TestTool['answer']) {
  const mcp: TestMcp = await startTestMcp({
    name: 'cancel_order',
    description: 'Cancels an order.',
    inputSchema,
    answer:
      answer ??
      (({ order_number }) => ({
        content: [{ type: 'text', text: `Order ${String(order_number)} is cancelled.` }],
      })),
  });
  cleanups.push(() => mcp.close());
  const org = await api.newOrg();
  const { token: key } = await api.newKey(org);
  const tool = { source_name: 'cancel_order', description: 'Cancels an order.', input_schema: inputSchema };
  const approved_tools = [{ ...tool, risk_tier, auth_scope: 'public' }];
  const server = `/support/mcp/orgs/${org.orgId}/server`;
  const put = await api.request('PUT', server, { token: key, body: { endpoint_url: mcp.url, approved_tools } });
  expect(put.status).toBe(200);
  const keys = await api.request('GET', `/support/developer-keys/orgs/${org.orgId}/publishable-keys`, {
    token: org.owner.token,
  });
  const disconnect = () => api.request('DELETE', server, { token: key });
  return { org, key, mcp, publishable: String(keys.body.data.test.key), disconnect };
}

type Settings = { url?: string; width?: number } & Record<string, string | number>;
async function demo(publishable: string, { url = api.url, width = 1000, ...settings }: Settings = {}) {
  const query = new URLSearchParams({ key: publishable, locale: 'en' });
  for (const [name, value] of Object.entries(settings)) query.set(name, String(value));
  const opened = await visit(browser, `${url}/demo?${query.toString()}`, { width });
  cleanups.push(() => opened.context.close());
  return opened;
}

/** The request for confirmation as shown: its title, the arguments, the sentence below, and its buttons. */
const askIn = (chat: Chat) =>
  chat.inside(`(() => {
    const ask = root.querySelector('.ask');
    const texts = (selector) => [...ask.querySelectorAll(selector)].map((each) => each.textContent);
    return ask && [...texts('.what'), ...texts('dt, dd'), ...texts('.body > p:last-child'), ...texts('button')];
  })()`);
const asked = ['Cancel order', 'Order number', 'A-1042', 'Shall this be done?', 'No', 'Yes, do it'];

async function askedIn(chat: Chat): Promise<void> {
  await chat.open();
  await chat.say(please);
  await chat.find('.ask button');
}
const settled = (chat: Chat, sentence: string) =>
  until(async () => ((await askIn(chat)) as string[] | null)?.includes(sentence), `the ask to say “${sentence}”`);
const answered = (chat: Chat, part: string) =>
  until(async () => (await chat.messages()).some((line) => line.startsWith('ai:') && line.includes(part)), part);
/** Waits for a line in the widget's list of messages. The line may come after the agent's answer. */
const told = (chat: Chat, line: string) => until(async () => (await chat.messages()).includes(line), line);
const focused = (chat: Chat) => chat.inside('root.activeElement?.textContent || root.activeElement?.id');

describe('a customer who is asked to confirm a tool call', () => {
  it('a customer who is asked to confirm a tool call sees the exact arguments, agrees by keyboard, and reads the outcome', async () => {
    const { publishable, mcp } = await shop('customer_confirm');
    const { page, chat } = await demo(publishable);
    await askedIn(chat);
    expect(await askIn(chat)).toEqual(asked);
    // The typing indicator is off while the widget waits for the customer.
    expect(await chat.inside("root.querySelector('.dots')")).toBeNull();
    expect(mcp.calls).toEqual([]);
    const tab = async (): Promise<unknown> => {
      await page.keyboard.down('Shift');
      await page.keyboard.press('Tab');
      await page.keyboard.up('Shift');
      return focused(chat);
    };
    expect([await tab(), await tab()]).toEqual(['Yes, do it', 'No']);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await settled(chat, 'You have agreed.');
    expect(await focused(chat)).toBe('input');
    await answered(chat, 'Order A-1042 is cancelled.');
    await told(chat, 'system: Cancel order: done');
    expect(mcp.calls).toHaveLength(1);
    expect(await chat.inside("root.querySelector('.ask button')")).toBeNull();
  });

  it('a customer who is asked to confirm a tool call can decline, and the tool is not called', async () => {
    const { publishable, mcp } = await shop('customer_confirm');
    const { chat } = await demo(publishable);
    await askedIn(chat);
    await (await chat.find('.ask .secondary')).click();
    await settled(chat, 'You have declined.');
    await answered(chat, 'nothing was done');
    await told(chat, 'system: Cancel order: not done');
    expect(mcp.calls).toEqual([]);
  });

  it('the customer answers a tool’s questions by keyboard, in a form with labelled fields', async () => {
    const requestedSchema = {
      type: 'object' as const,
      properties: {
        reason: { type: 'string' as const, title: 'Reason', enum: ['late', 'wrong'] },
        account: { type: 'string' as const, title: 'Account', description: 'Where the money goes', minLength: 5 },
        rest: { type: 'boolean' as const, title: 'Cancel the rest, too' },
      },
      required: ['reason', 'account'],
    };
    const { publishable, mcp } = await shop('safe_write', (_given, _meta, answers) =>
      answers
        ? { content: [{ type: 'text', text: `Heard ${JSON.stringify(answers['why'])}` }] }
        : inputRequired({ inputRequests: { why: inputRequired.elicit({ message: 'Why?', requestedSchema }) } }),
    );
    const { page, chat } = await demo(publishable);
    await askedIn(chat);
    expect(await chat.inside("root.querySelector('.ask').textContent")).toContain('Why?');
    const names = await page.accessibility.snapshot({ interestingOnly: true });
    const text = JSON.stringify(names);
    for (const name of ['Reason', 'Account', 'Where the money goes', 'Cancel the rest, too'])
      expect(text).toContain(name);
    await (await chat.find('.question select')).focus();
    await page.keyboard.press('l');
    await page.keyboard.press('Tab');
    await page.keyboard.type('DE1');
    await page.keyboard.press('Enter');
    await settled(chat, 'This answer was not taken. Please look at it again.');
    expect(mcp.calls).toHaveLength(1);
    // Earlier input is still in the field.
    const field = await chat.find('.question input:not([type="checkbox"])');
    await field.focus();
    await page.keyboard.press('End');
    await page.keyboard.type('234');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await page.keyboard.press('Enter');
    await settled(chat, 'You have answered.');
    const content = { reason: 'late', account: 'DE1234', rest: true };
    await answered(chat, `Heard ${JSON.stringify({ action: 'accept', content })}`);
    expect(mcp.calls).toHaveLength(2);
    expect(await focused(chat)).toBe('input');
  });

  it('a request to confirm a tool call, and the answer given in one tab, are shown in every tab', async () => {
    const { publishable, mcp } = await shop('customer_confirm');
    const { page, chat, context } = await demo(publishable);
    await askedIn(chat);
    await page.reload();
    await chat.find('.ask button');
    expect(await askIn(chat)).toEqual(asked);
    const other = await context.newPage();
    await other.goto(page.url());
    const second = chatOn(other);
    await other.bringToFront();
    if (!(await second.inside("root?.querySelector('.panel')?.hasAttribute('data-open')"))) await second.open();
    await (await second.find('.ask .primary')).click();
    await settled(second, 'You have agreed.');
    await settled(chat, 'You have agreed.');
    await answered(chat, 'is cancelled');
    expect(mcp.calls).toHaveLength(1);
  });

  it('a confirmation that the customer gives while the connection is lost is sent once after reconnecting', async () => {
    const { publishable, mcp } = await shop('customer_confirm');
    const wire = await wireTo(api.url);
    cleanups.push(() => wire.close());
    const { chat } = await demo(publishable, { url: wire.url });
    await askedIn(chat);
    wire.cut();
    await until(async () => (await chat.notes()).includes('connection was lost'), 'the sentence about the connection');
    await (await chat.find('.ask .primary')).click();
    await settled(chat, 'One moment…');
    wire.mend();
    await settled(chat, 'You have agreed.');
    await answered(chat, 'is cancelled');
    expect(mcp.calls).toHaveLength(1);
  });

  it('a confirmation is sent again when the server temporarily fails to accept it, although the socket stays open', async () => {
    const { publishable, mcp } = await shop('customer_confirm');
    const { page, chat } = await demo(publishable);
    await askedIn(chat);
    await failOnce(page, 'confirm_response');
    await (await chat.find('.ask .primary')).click();
    await settled(chat, 'You have agreed.');
    await answered(chat, 'is cancelled');
    expect(mcp.calls).toHaveLength(1);
  });

  it('the closed widget shows that a request for confirmation is pending, and the customer is told when the request is withdrawn', async () => {
    const { publishable, mcp, disconnect } = await shop('customer_confirm');
    const { page, chat } = await demo(publishable);
    await askedIn(chat);
    await page.keyboard.press('Escape');
    expect(await chat.inside("root.querySelector('.badge').textContent")).toBe('1');
    await (await chat.find('.launcher')).click();
    expect((await disconnect()).status).toBe(200);
    await settled(chat, 'This is not asked any more.');
    await told(chat, 'system: Cancel order: not done');
    expect(mcp.calls).toEqual([]);
  });

  it('a screen reader finds a request for confirmation as a named group in the log, with named buttons', async () => {
    const { publishable } = await shop('customer_confirm');
    const { page, chat } = await demo(publishable);
    await askedIn(chat);
    expect(await chat.inside("root.querySelector('[role=log]').contains(root.querySelector('.ask'))")).toBe(true);
    const tree = await page.accessibility.snapshot({ interestingOnly: false });
    const named: string[] = [];
    const walk = ({ role, name, children = [] }: SerializedAXNode): void => {
      named.push(`${role} ${name ?? ''}`);
      children.forEach(walk);
    };
    walk(tree!);
    for (const expected of ['group Cancel order', 'button Yes, do it', 'button No']) expect(named).toContain(expected);
  });
});

describe('a customer who must prove their identity', () => {
  /** A page of the organization; `script` runs before the widget does. */
  async function page(token: string, script: string): Promise<{ page: Page; chat: Chat }> {
    const html = `<!doctype html><html lang="en"><head><title>A page</title><script>${script}</script><script src="${api.url}/widget.js" data-session-token="${token}" data-locale="en" async></script></head><body><main><h1>A page</h1></main></body></html>`;
    const server = createServer((_, reply) => {
      reply.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(html);
    });
    const { url, close } = await listening(server);
    const opened = await visit(browser, `${url}/`);
    cleanups.push(close, () => opened.context.close());
    return opened;
  }

  it('a customer who must prove their identity does so through the page’s event handler, again after a rejected token', async () => {
    const { org, key, mcp } = await shop('step_up');
    const customer = { externalCustomerId: 'customer-1' };
    const { token } = await api.newSession(org, { key, body: { customer } });
    const proven = await api.newSession(org, { key, body: { customer, stepUp: true } });
    // The first token is invalid. For the second, the page has the customer sign in again and switches to the new
    // session.
    const { chat } = await page(
      token,
      `addEventListener('supportwidget:stepup', (event) => {
        event.preventDefault();
        (window.titles ??= []).push(event.detail.title);
        const again = window.titles.length > 1;
        if (again) SupportWidget.identify({ sessionToken: ${JSON.stringify(proven.token)} });
        SupportWidget.stepUp(event.detail.pendingId, again ? ${JSON.stringify(proven.reply.step_up_token)} : 'sut_wrong');
      });`,
    );
    await askedIn(chat);
    expect(await askIn(chat)).toEqual([
      'Cancel order',
      'Order number',
      'A-1042',
      'For this, please prove who you are.',
      'No',
      'Prove who I am',
    ]);
    await (await chat.find('.ask .primary')).click();
    await settled(chat, 'This page could not prove who you are. Try again, or ask for a person.');
    expect(mcp.calls).toEqual([]);
    await (await chat.find('.ask .primary')).click();
    await settled(chat, 'You have agreed.');
    await answered(chat, 'is cancelled');
    expect(await chat.inside('window.titles')).toEqual(['Cancel order', 'Cancel order']);
    expect(mcp.calls).toHaveLength(1);
  });

  it('a customer who must prove their identity is told when the page cannot supply a token, and may decline', async () => {
    const { org, key, mcp } = await shop('step_up');
    const { token } = await api.newSession(org, { key });
    const { chat } = await page(token, '');
    await askedIn(chat);
    await (await chat.find('.ask .primary')).click();
    await settled(chat, 'This page could not prove who you are. Try again, or ask for a person.');
    await (await chat.find('.ask .secondary')).click();
    await settled(chat, 'You have declined.');
    expect(mcp.calls).toEqual([]);
  });
});

describe('the request for confirmation', () => {
  const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
  it.each([
    ['light', 'en', 1000],
    ['dark', 'de', 320],
    ['light', 'ar', 320],
    ['dark', 'fr', 1000],
  ])(
    'the request for confirmation has no axe violations, and nothing is clipped (%s, %s, %i pixels)',
    async (theme, locale, width) => {
      const { publishable } = await shop('customer_confirm');
      const { page, chat } = await demo(publishable, { theme, locale, width });
      await page.setBypassCSP(true);
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
      await page.reload();
      await page.addScriptTag({ path: axe });
      await askedIn(chat);
      const violations = () =>
        page.evaluate(
          "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) => [id, ...nodes.map(({ failureSummary }) => failureSummary)]))",
        );
      expect(await violations()).toEqual([]);
      const whole =
        "[...root.querySelectorAll('.ask, .ask button')].every((each) => each.scrollWidth <= each.clientWidth + 1)";
      expect(await chat.inside(whole)).toBe(true);
      expect(
        await chat.inside("[...root.querySelectorAll('.ask button')].every((button) => button.clientHeight >= 40)"),
      ).toBe(true);
      await (await chat.find('.ask .primary')).click();
      await answered(chat, 'A-1042');
      expect(await violations()).toEqual([]);
    },
  );
});
