/**
 * Benchmark of how a crawl of 1,000 URLs slows down questions about other documents. It measures p99 of the questions
 * when idle, while the site is crawled, and while its passages wait for embeddings. It also measures whether the
 * lexical search finds a crawled page, and how fast the background embeds the passages. No question is repeated, so
 * each one is embedded.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { siteShape } from './site.ts';
import { questions } from './chat.ts';
import { onStage, quantile, untilIndexed, type Stage } from './stage.ts';
import { apiAt, type Api } from '../test/kit/harness.ts';
import { startProcess } from '../test/kit/processes.ts';

const idleMs = 20_000;
/** How long questions are asked while passages wait for embeddings, in ms. Embedding all passages takes longer. */
const backgroundMs = Number(process.argv[3] ?? 60) * 1000;
const pauseMs = 50;
/** Maximum ratio of p99 while passages are embedded to p99 when idle. */
const target = 2;
const settings = { LIMITS: 'sandbox_pages=100000', EGRESS_ALLOW: '127.0.0.1' };
let asked = 0;

export async function run(): Promise<void> {
  await onStage(
    async (stage) => {
      const site = await startProcess('bench/site.ts', { DATA_DIR: stage.dataDir });
      try {
        await watch(stage, apiAt(stage.url), site.url);
      } finally {
        await site.stop();
      }
    },
    settings,
    { help: true },
  );
}

async function watch(stage: Stage, api: Api, site: string): Promise<void> {
  const { orgId, key: token } = stage;
  const get = async (path: string) => (await api.request('GET', `/orgs/${orgId}${path}`, { token })).body;
  await untilIndexed(stage, true);
  await askUntil(api, stage, () => asked >= 20);
  const idle = await askUntil(api, stage, after(idleMs));
  told('questions, nothing else to do', idle);

  const began = performance.now();
  const started = await api.request('POST', `/orgs/${orgId}/crawl`, {
    token,
    body: { url: site, options: { max_pages: siteShape.addresses } },
  });
  if (started.status !== 202) throw new Error(`crawl: ${started.status} ${JSON.stringify(started.body)}`);
  const status = async () => (await get('/crawl/status')).status;
  told(
    'questions, while the site is read',
    await askUntil(api, stage, async () => (await status()).status !== 'crawling'),
  );
  const ended = await status();
  console.log(
    `  crawl ${ended.status} after ${((performance.now() - began) / 1000).toFixed(1)} s; ${ended.pages_to_embed} pages wait for vectors`,
  );
  console.log(`  a page's own words find it: ${await findsByWords(api, stage, site)}`);

  const before = await waiting(stage);
  const from = performance.now();
  const meanwhile = await askUntil(api, stage, after(backgroundMs));
  told('questions, while passages are embedded', meanwhile);
  const made = before - (await waiting(stage));
  const seconds = (performance.now() - from) / 1000;
  console.log(
    `  ${made} of ${before} passages embedded in ${seconds.toFixed(0)} s (${(made / seconds).toFixed(1)}/s), by knowledge_passages_to_embed`,
  );
  console.log(`  pages that wait now, by the crawl's status: ${(await status()).pages_to_embed}`);
  const share = quantile(meanwhile, 0.99) / quantile(idle, 0.99);
  console.log(`  p99 to idle ${share.toFixed(2)} (at most: ${target})`);
  if (share > target || made <= 0) process.exitCode = 1;
}

const after = (ms: number): (() => boolean) => {
  const end = performance.now() + ms;
  return () => performance.now() >= end;
};

/** Asks one question after another, with pauses, until `over` is true. Returns the times in ms. */
async function askUntil(api: Api, { orgId, key }: Stage, over: () => boolean | Promise<boolean>): Promise<number[]> {
  const times: number[] = [];
  while (!(await over())) {
    await sleep(pauseMs * 2 * Math.random());
    const query = `No. ${asked}: ${questions[asked % questions.length]}`;
    asked += 1;
    const began = performance.now();
    const { status } = await api.request('POST', `/orgs/${orgId}/kb/query`, { token: key, body: { query } });
    if (status !== 200) throw new Error(`a question: ${status}`);
    times.push(performance.now() - began);
  }
  return times;
}

function told(what: string, times: readonly number[]): void {
  const at = (share: number): string => quantile(times, share).toFixed(0);
  console.log(`  ${what}: p50 ${at(0.5)}, p99 ${at(0.99)} ms of ${times.length}`);
}

/** Searches for a page by its title, which occurs nowhere else. Returns whether the page was found, and its place. */
async function findsByWords(api: Api, { orgId, key }: Stage, site: string): Promise<string> {
  const html = await (await fetch(site)).text();
  const title = /<title>([^<]*)<\/title>/u.exec(html)?.[1] ?? '';
  const { body } = await api.request('POST', `/orgs/${orgId}/kb/query`, {
    token: key,
    body: { query: title, explain: true },
  });
  const found = (body.explain.candidates as { heading: string; text: string }[]).findIndex(
    ({ heading, text }) => heading.includes(title) || text.includes(title),
  );
  return found < 0 ? 'no' : `yes, at place ${found + 1}`;
}

/** The number of passages that wait for embeddings, from the metrics. */
async function waiting({ url }: Stage): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return [...text.matchAll(/^knowledge_passages_to_embed(?:\{[^}]*\})? (\d+)/gmu)].reduce(
    (sum, [, n]) => sum + Number(n),
    0,
  );
}
