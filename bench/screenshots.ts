/**
 * `npm run bench -- screenshots`: makes the pictures of the widget, the inbox and a trace in docs/screenshots
 * with a system of its own. With names as arguments, makes only those. It measures nothing.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'puppeteer';
import { findChromium } from '../engines/chromium.ts';
import { testTools } from '../engines/testtools.ts';
import { chatOn, startChromium, type Chat } from '../test/kit/chromium.ts';
import { openApp } from '../test/kit/apppage.ts';
import { apiAt, until } from '../test/kit/harness.ts';
import { startTestMcp } from '../test/kit/mcp-server.ts';
import { outboxOf, startReceiver } from '../test/kit/receiver.ts';
import { startZipkin, type Zipkin } from '../test/kit/zipkin.ts';
import { ask as askAsCustomer, newCustomer } from './chat.ts';
import { onStage, untilIndexed, type Stage } from './stage.ts';

const print = (line: string): void => console.log(line);
const folder = new URL('../docs/screenshots/', import.meta.url);

type Picture = {
  name: string;
  query: Record<string, string>;
  width: number;
  height: number;
  /** Brings the chat into the state that the picture shows. */
  play(chat: Chat, page: Page, stage: Stage): Promise<void>;
};

const question = 'Is a driving licence accepted as proof of identity?';

const inbox = 'app-inbox';
const trace = 'trace';
const customers = [
  ['Ada Moreno', 'I want to talk to a person'],
  ['Ben Fischer', question],
  ['Chloe Martin', 'What is the weather in Oslo?'],
  ['Dev Patel', 'The app keeps crashing, can I talk to someone?'],
] as const;

async function ask(chat: Chat, text: string): Promise<void> {
  const before = (await chat.messages()).length;
  await chat.say(text);
  await until(async () => (await chat.messages()).length >= before + 2, `an answer to “${text}”`);
}

const conversation = async (chat: Chat): Promise<void> => {
  await chat.open();
  await ask(chat, question);
};

const cancelOrder = {
  name: 'cancel_order',
  description: 'Cancels an order.',
  inputSchema: { type: 'object', properties: { order_number: { type: 'string' } }, required: ['order_number'] },
};

const pictures: readonly Picture[] = [
  { name: 'light', query: { theme: 'light' }, width: 720, height: 640, play: conversation },
  { name: 'dark', query: { theme: 'dark' }, width: 720, height: 640, play: conversation },
  {
    name: 'rtl',
    query: { theme: 'light', locale: 'ar' },
    width: 720,
    height: 640,
    play: conversation,
  },
  {
    name: 'phone',
    query: { theme: 'light' },
    width: 320,
    height: 640,
    play: async (chat) => {
      await conversation(chat);
      await chat.say('I want to talk to a human, please.');
      await until(async () => (await chat.notes()) !== '', 'the sentence about a person');
    },
  },
  {
    name: 'rating',
    query: { theme: 'dark', locale: 'de' },
    width: 720,
    height: 640,
    play: async (chat) => {
      await conversation(chat);
      await (await chat.find('.bar button')).click();
      await (await chat.find('.rating input[value="4"]')).click();
    },
  },
  {
    name: 'confirm',
    query: { theme: 'light' },
    width: 720,
    height: 640,
    play: async (chat, _, stage) => {
      const mcp = await startTestMcp(cancelOrder);
      try {
        await connectTool(stage, mcp.url);
        await chat.open();
        await chat.say('Please cancel my order A-1042');
        await chat.find('.ask button');
      } finally {
        await mcp.close();
      }
    },
  },
];

/** Connects a server with one tool that needs the customer's confirmation. */
async function connectTool({ base, orgId, key }: Stage, endpoint_url: string): Promise<void> {
  const approved = { source_name: cancelOrder.name, risk_tier: 'customer_confirm', auth_scope: 'public' };
  const { description, inputSchema: input_schema } = cancelOrder;
  const reply = await fetch(`${base}/support/mcp/orgs/${orgId}/server`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ endpoint_url, approved_tools: [{ ...approved, description, input_schema }] }),
  });
  if (!reply.ok) throw new Error(`The tool server was not connected: ${await reply.text()}`);
}

function isWanted(name: string): boolean {
  const names = process.argv.slice(3);
  return names.length === 0 || names.includes(name);
}

async function shoot(page: Page, name: string): Promise<void> {
  const path = fileURLToPath(new URL(`${name}.png`, folder));
  await page.screenshot({ path });
  console.log(`${name}.png: ${Math.ceil((await stat(path)).size / 1024)} KB`);
}

/** The inbox with some customers. One conversation is open and shows the passages behind the agent's answer. */
async function pictureOfInbox(stage: Stage, browser: Browser): Promise<void> {
  for (const [name, asked] of customers) {
    const email = `${name.toLowerCase().replace(' ', '.')}@example.com`;
    const client = await newCustomer(stage, { customer: { email, name } });
    await askAsCustomer(client, asked);
    await client.close();
  }
  const owner = JSON.parse(await readFile(join(stage.dataDir, 'demo.json'), 'utf8')) as {
    email: string;
    password: string;
  };
  const { page, lacks, open, shows } = await openApp(browser, stage.url, { ...owner, token: '', userId: '' });
  await open('/app/inbox?box=all');
  await (await page.waitForSelector(`::-p-text(${question})`))!.click();
  await (await page.waitForSelector('::-p-text(Why this answer?)'))!.click();
  await shows('Searched for');
  await lacks('Loading');
  await shoot(page, inbox);
}

/**
 * Zipkin's page with the trace of a message that asks for a person, from the message to the webhook that reports it.
 */
async function pictureOfTrace(stage: Stage, browser: Browser, zipkin: Zipkin): Promise<void> {
  const api = apiAt(stage.url);
  const receiver = await startReceiver();
  const org = await outboxOf(api).newOrg(receiver.url);
  const { token } = await api.newSession(org, { key: org.key });
  const traceId = randomBytes(16).toString('hex');
  await api.request('POST', `/support/chat/messages/${org.orgId}`, {
    token,
    headers: { traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-01` },
    body: { body: 'I want to talk to a person.' },
  });
  await until(async () => {
    const names = (await zipkin.spansOf(traceId)).map(({ name }) => name);
    return names.includes('attendto') && receiver.received.length > 0 && names.includes('post');
  }, 'the trace up to the webhook');
  await receiver.close();
  const page = await browser.newPage();
  await page.setViewport({ width: 1280, height: 720 });
  await page.goto(`${zipkin.url}/traces/${traceId}`);
  await page.waitForSelector('::-p-text(attendto)');
  await shoot(page, trace);
}

async function makePictures(stage: Stage, zipkin?: Zipkin): Promise<void> {
  await untilIndexed(stage, true);
  const browser = await startChromium(await findChromium(print));
  try {
    for (const { name, query, width, height, play } of pictures.filter((one) => isWanted(one.name))) {
      const context = await browser.createBrowserContext();
      const page = await context.newPage();
      await page.setViewport({ width, height });
      const dark = query['theme'] === 'dark' ? 'dark' : 'light';
      await page.emulateMediaFeatures([
        { name: 'prefers-color-scheme', value: dark },
        { name: 'prefers-reduced-motion', value: 'reduce' },
      ]);
      const search = new URLSearchParams({ key: stage.publishableKey, ...query });
      await page.goto(`${stage.url}/demo?${search.toString()}`);
      await play(chatOn(page), page, stage);
      await shoot(page, name);
      await context.close();
    }
    if (isWanted(inbox)) await pictureOfInbox(stage, browser);
    if (zipkin) await pictureOfTrace(stage, browser, zipkin);
  } finally {
    await browser.close();
  }
}

export async function run(): Promise<void> {
  await mkdir(folder, { recursive: true });
  const zipkin = isWanted(trace)
    ? await startZipkin({
        zipkin: await testTools.TEST_ZIPKIN(print),
        collector: await testTools.TEST_COLLECTOR(print),
      })
    : undefined;
  const settings = { EGRESS_ALLOW: '127.0.0.1', ...(zipkin && { OTEL_EXPORTER_OTLP_ENDPOINT: zipkin.endpoint }) };
  await onStage((stage) => makePictures(stage, zipkin), settings, { help: true });
  zipkin?.close();
}
