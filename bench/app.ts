/**
 * Benchmark of the page `/app` in Chromium. It measures the time from a key press to the painted change, with 10,000
 * conversations and the processor slowed four times. It also measures the page's memory, the size of its files, and the
 * time from an escalation at one API process to the row in a page that is connected to another one.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { buildApp } from '../api/http/apppage.ts';
import { findChromium } from '../engines/chromium.ts';
import { onStage, quantile, startBeside, type Stage } from './stage.ts';
import { openApp, type AppPage } from '../test/kit/apppage.ts';
import { startChromium } from '../test/kit/chromium.ts';
import { apiAt, until, type TestOrg } from '../test/kit/harness.ts';
import { outboxOf } from '../test/kit/receiver.ts';

const small = process.argv.includes('small');
const conversations = small ? 500 : 10_000;
const rounds = small ? 10 : 100;
const keys = 200;

export async function run(): Promise<void> {
  await weigh();
  const browser = await startChromium(await findChromium((line) => console.log(`  ${line}`)));
  try {
    await onStage(async (stage) => {
      const other = await startBeside(stage);
      const api = apiAt(stage.url);
      const org = await api.newOrg();
      const app = await openApp(browser, other.url, org.owner);
      try {
        await notice(stage, org, app);
        await type(stage, org, app);
      } finally {
        await other.stop();
      }
    });
  } finally {
    await browser.close();
  }
}

async function weigh(): Promise<void> {
  const { files } = await buildApp();
  const sizes = [...files].map(([name, { gzip }]) => [name, gzip.length] as const);
  const sum = (some: typeof sizes) => (some.reduce((total, [, size]) => total + size, 0) / 1000).toFixed(1);
  const first = sizes.filter(([name]) => /^(?:main|style|chunk)-/.test(name));
  console.log(
    `first load at most ${sum(first)} KB (asked for: 120), all ${sum(sizes)} KB (asked for: 130), compressed`,
  );
}

/**
 * Measures the time from an escalation at one API process to the row in the page that is connected to the other
 * process.
 */
async function notice(stage: Stage, owner: TestOrg, { page }: AppPage): Promise<void> {
  const api = apiAt(stage.url);
  const { newConversation, act } = outboxOf(api);
  const org = { ...owner, key: (await api.newKey(owner)).token };
  // The page of a new organization opens on its first steps, not on the inbox.
  await page.goto(new URL('/app/inbox', page.url()).href);
  await page.waitForSelector('.rows');
  await page.evaluate(`(() => {
    window.seen = {};
    new MutationObserver(() => {
      for (const { href } of document.querySelectorAll('a.entry')) window.seen[href.match(/conv_\\w+/)[0]] ??= Date.now();
    }).observe(document.body, { childList: true, subtree: true });
  })()`);
  const waits: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const { convId } = await newConversation(org);
    await sleep(100);
    const began = Date.now();
    await act(org, convId, 'escalate');
    const at = await until(() => page.evaluate(`window.seen['${convId}']`) as Promise<number>, `${convId} on the page`);
    waits.push(at - began);
    // The conversation is resolved, so that the next one gets a row. The inbox lists the longest waiting first, and
    // only rows near the visible ones are in the document.
    await act(org, convId, 'resolve');
  }
  say('escalation to the row in a page at another process', waits, 1_000);
}

/** Measures the time of the keys that move the selection, in a list of all conversations. */
async function type(stage: Stage, org: TestOrg, { page }: AppPage): Promise<void> {
  const client = await MongoClient.connect(stage.mongodbUri, { directConnection: true });
  try {
    const stored = client.db().collection<{ _id: string }>('conversations');
    const standing = (await stored.findOne({ org_id: org.orgId } as object))!;
    await stored.insertMany(
      Array.from({ length: conversations }, (_, at) => ({
        ...standing,
        _id: `${standing._id.slice(0, -5)}${String(at).padStart(5, '0')}`,
        ordinal: at + 1_000_000,
        ticket: undefined,
        last_message_at: new Date(Date.now() - at * 1000),
        pending: [],
        untold: [],
      })),
      { ignoreUndefined: true },
    );
  } finally {
    await client.close();
  }
  await page.goto(new URL('/app/inbox?box=all', page.url()).href);
  await page.waitForSelector('.rows li');
  await until(
    async () =>
      (await page.evaluate(`(() => {
        const rows = document.querySelector('.rows');
        rows.scrollTop = rows.scrollHeight;
        return Number(document.querySelector('.rows li')?.getAttribute('aria-setsize')) >= ${conversations};
      })()`)) as boolean,
    'all conversations to be listed',
  );
  await page.evaluate(`(() => {
    document.querySelector('.rows').scrollTop = 0;
    window.painted = [];
    document.addEventListener('keydown', ({ timeStamp }) => {
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => window.painted.push(performance.now() - timeStamp);
        port2.postMessage(0);
      });
    }, true);
  })()`);
  await page.emulateCPUThrottling(4);
  for (let at = 0; at < keys; at += 1) {
    await page.keyboard.press(at % 3 === 2 ? 'k' : 'j');
    await sleep(150);
  }
  await page.emulateCPUThrottling(1);
  say(
    `key to paint with ${conversations} conversations, slowed four times`,
    (await page.evaluate('window.painted')) as number[],
    100,
  );
  const { JSHeapUsedSize = 0 } = await page.metrics();
  const rows = (await page.evaluate("document.querySelectorAll('.rows li').length")) as number;
  console.log(
    `${rows} rows in the document (asked for: 40), heap ${Math.round(JSHeapUsedSize / 1e6)} MB (asked for: 50)`,
  );
}

function say(what: string, seen: readonly number[], askedMs: number): void {
  const [p50, p99] = [quantile(seen, 0.5), quantile(seen, 0.99)];
  const verdict = p99 <= askedMs ? 'reached' : 'not reached';
  console.log(`${what}: p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms (asked for: ${askedMs}): ${verdict}`);
}
