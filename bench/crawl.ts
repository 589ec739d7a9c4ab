/**
 * Benchmark of a crawl of a site with 1,000 URLs, compared with Crawlee's CheerioCrawler, which only fetches and
 * extracts, while this system also indexes. Goals: 1.3 times as fast; a second crawl of the unchanged site at least 6
 * times faster than the first, with nothing indexed twice; constant memory; 0.1 Temporal actions per page.
 */
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection, WorkflowNotFoundError } from '@temporalio/client';
import { MongoClient } from 'mongodb';
import type { PeerResult } from './peers/crawlee.ts';
import { watched } from './heap.ts';
import { siteShape } from './site.ts';
import { countActions, onStage, quantile, type Stage } from './stage.ts';
import { vectorsName } from '../clients/embedding/vectors.ts';
import { crawlSiteWorkflowId } from '../models/rules/crawl/work.ts';
import { embedPassagesWork } from '../models/rules/knowledge/work.ts';
import { apiAt, type Api, type TestOrg } from '../test/kit/harness.ts';
import { startProcess, type Running } from '../test/kit/processes.ts';

const rounds = Number(process.argv[3] ?? 3);
const { addresses } = siteShape;
/** `growth`: the maximum growth of the worker's live memory from the first to the last measurement, as a fraction. */
const target = { share: 1.3, recrawl: 6, actions: 0.1, growth: 0.05 };
const lookEveryMs = 25;
const marks = [100, 500, addresses];
/** By default the crawler limits its requests to a site; the site of this benchmark needs no protection. */
const settings = { LIMITS: 'requests_per_site=16,sandbox_pages=100000', EGRESS_ALLOW: '127.0.0.1' };
const memory = watched('workers/main.ts');

export async function run(): Promise<void> {
  await onStage(
    async (stage) => {
      const others = { DATA_DIR: stage.dataDir };
      const site = await startProcess('bench/site.ts', others);
      const peer = await startProcess('bench/peers/crawlee.ts', others);
      const connection = await Connection.connect({ address: stage.temporalAddress });
      const mongo = await MongoClient.connect(stage.mongodbUri);
      try {
        await compare(stage, { site, peer, temporal: new Client({ connection }), mongo });
      } finally {
        await mongo.close();
        await connection.close();
        await peer.stop();
        await site.stop();
      }
    },
    { ...settings, ...memory.settings },
  );
}

type Parts = { site: Running; peer: Running; temporal: Client; mongo: MongoClient };

async function compare(stage: Stage, { site, peer, temporal, mongo }: Parts): Promise<void> {
  const api = apiAt(stage.url);
  const seen: { peer: number; first: number; again: number; actions: number; grown: number }[] = [];
  let indexedAgain = 0;
  for (let round = 1; round <= rounds; round += 1) {
    const theirs = await crawlByPeer(peer, site.url);
    // Each round has a new organization, so that it starts empty.
    const org = await api.newOrg();
    const { token } = await api.newKey(org);
    const caller = { api, org, token, worker: await workerOf(stage) };
    const first = await crawl(caller, site.url, residentIn);
    await endEmbedding({ mongo, temporal }, org.orgId);
    const again = await crawl(caller, site.url, residentIn);
    indexedAgain += await mongo
      .db()
      .collection('pages')
      .countDocuments({ org_id: org.orgId, generation: { $gt: 1 } });
    const actions = await actionsOf(temporal, first.crawlId);
    const grown = growth(first.memory.map((one) => one.worker));
    seen.push({ peer: theirs.seconds, first: first.seconds, again: again.seconds, actions, grown });
    console.log(
      `  round ${round}  Crawlee ${perSecond(theirs.seconds)}, ours ${perSecond(first.seconds)}, again ${perSecond(again.seconds)}`,
    );
    console.log(`           first: ${first.outcome}; again: ${again.outcome}`);
    console.log(`           resident in worker + readers, first crawl: ${listed(first.memory)}`);
    console.log(`           resident in worker + readers, again:       ${listed(again.memory)}`);
  }
  // Garbage collection takes time and frees memory, so memory is measured in a separate crawl after all others.
  const org = await api.newOrg();
  const { token } = await api.newKey(org);
  const inside = await crawl({ api, org, token, worker: undefined }, site.url, aliveAsMemory);
  const alive = growth(inside.memory.map((one) => one.worker + one.beside));
  const middle = (of: (one: (typeof seen)[number]) => number): number => quantile(seen.map(of), 0.5);
  const share = middle((one) => one.peer / one.first);
  const faster = middle((one) => one.first / one.again);
  const actions = middle((one) => one.actions) / addresses;
  console.log(`${addresses} addresses, ${rounds} rounds, medians:`);
  console.log(`  Crawlee, fetched and extracted           ${perSecond(middle((one) => one.peer))}`);
  console.log(`  ours, fetched, extracted and indexed     ${perSecond(middle((one) => one.first))}`);
  console.log(`  share ${share.toFixed(2)} (to reach: ${target.share})`);
  console.log(`  again, unchanged: ${faster.toFixed(1)} times faster (to reach: ${target.recrawl})`);
  console.log(`  pages indexed again: ${indexedAgain} (to reach: 0)`);
  console.log(`  Temporal actions a page: ${actions.toFixed(3)} (at most: ${target.actions})`);
  console.log(`  alive in the worker after a collection, heap + buffers: ${listed(inside.memory)}`);
  console.log(
    `  grown from page ${marks[0]} to ${addresses}: alive ${percent(alive)} (at most ${percent(target.growth)}), resident ${percent(middle((one) => one.grown))}`,
  );
  const missed = [share < target.share, faster < target.recrawl, indexedAgain > 0, actions > target.actions];
  if (missed.includes(true) || alive > target.growth) process.exitCode = 1;
}

/**
 * Marks the pages as embedded and waits until running background work has ended. Embedding all pages would take most of
 * an hour and slow down the following crawls.
 */
async function endEmbedding({ mongo, temporal }: Pick<Parts, 'mongo' | 'temporal'>, orgId: string): Promise<void> {
  await mongo
    .db()
    .collection('pages')
    .updateMany({ org_id: orgId }, { $set: { embedded_by: vectorsName } });
  const embedding = temporal.workflow.getHandle(embedPassagesWork(orgId, 'test').id);
  await embedding.result().catch((error: unknown) => {
    // With EMBEDDING=off no workflow that embeds exists.
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  });
}

/** The growth from the first to the last number, as a fraction of the first. */
const growth = (list: readonly number[]): number => (list.at(-1) ?? Number.NaN) / (list[0] ?? Number.NaN) - 1;
const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
const listed = (list: readonly Memory[]): string =>
  list.map(({ worker, beside, at }) => `${worker.toFixed(0)} + ${beside.toFixed(0)} MiB at ${at}`).join(', ');
const perSecond = (seconds: number): string => `${(addresses / seconds).toFixed(1)}/s`;

async function crawlByPeer({ child }: Running, url: string): Promise<PeerResult> {
  child.send({ url, maxRequests: addresses * 2 });
  const [result] = (await once(child, 'message')) as [PeerResult];
  // The number of expected pages: all URLs except errors. Crawlee counts a redirect as a page, because it follows it
  // immediately.
  const expected = addresses * (1 - siteShape.errors);
  if (result.pages !== expected) throw new Error(`Crawlee read ${result.pages} pages of ${expected}`);
  return result;
}

type Caller = { api: Api; org: TestOrg; token: string; worker: number | undefined };
/** The memory of processes, in MiB. `at`: the number of URLs visited so far. */
type Memory = { worker: number; beside: number; at: number };
type Look = (worker: number | undefined) => Promise<Omit<Memory, 'at'>>;
type Crawled = { crawlId: string; seconds: number; outcome: string; memory: Memory[] };

/** The time from the request until the crawl has ended and all pages can be found. */
async function crawl({ api, org, token, worker }: Caller, url: string, look: Look): Promise<Crawled> {
  const began = performance.now();
  const body = { url, options: { max_pages: addresses } };
  const started = await api.request('POST', `/orgs/${org.orgId}/crawl`, { token, body });
  if (started.status !== 202) throw new Error(`crawl: ${started.status} ${JSON.stringify(started.body)}`);
  const memory: Memory[] = [];
  for (;;) {
    const { status } = (await api.request('GET', `/orgs/${org.orgId}/crawl/status`, { token })).body;
    const seconds = (performance.now() - began) / 1000;
    const visited = status.pages_processed + status.pages_skipped + status.pages_failed;
    const passed = marks[memory.length];
    if (passed !== undefined && visited >= passed) memory.push({ ...(await look(worker)), at: visited });
    if (status.status !== 'crawling') {
      if (status.status !== 'completed' || visited !== addresses)
        throw new Error(`the crawl ended ${status.status} after ${visited}: ${status.error}`);
      const fresh = status.pages_processed - status.pages_unchanged;
      const outcome = `${fresh} indexed, ${status.pages_unchanged} unchanged, ${status.pages_skipped} skipped, ${status.pages_failed} failed`;
      return { crawlId: started.body.crawl_id, seconds, outcome, memory };
    }
    await sleep(lookEveryMs);
  }
}

/**
 * The number of Temporal actions of a crawl: those in the history, and one for each second of an activity, because the
 * heartbeats of an activity leave no event.
 */
async function actionsOf(temporal: Client, crawlId: string): Promise<number> {
  const { events } = await temporal.workflow.getHandle(crawlSiteWorkflowId(crawlId)).fetchHistory();
  const list = events ?? [];
  const at = ({ eventTime }: (typeof list)[number]): number => Number(eventTime?.seconds ?? 0);
  const began = new Map(list.map((event) => [String(event.eventId), at(event)]));
  const beats = list.reduce((sum, event) => {
    const start = event.activityTaskCompletedEventAttributes?.startedEventId;
    return sum + (start ? at(event) - (began.get(String(start)) ?? 0) : 0);
  }, 0);
  return countActions(list) + beats;
}

const fieldOf = async (pid: string, field: string): Promise<number> =>
  Number(
    new RegExp(`^${field}:\\s+(\\d+)`, 'mu').exec(await readFile(`/proc/${pid}/status`, 'utf8').catch(() => ''))?.[1] ??
      0,
  );

/** The worker's process id. The worker's guard process has the same command line, but uses far less memory. */
async function workerOf(stage: Stage): Promise<number | undefined> {
  const found: { pid: number; size: number }[] = [];
  for (const pid of (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/u.test(name))) {
    const environ = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (!environ.includes(`DATA_DIR=${stage.dataDir}\0`) || !command.includes('workers/main.ts')) continue;
    found.push({ pid: Number(pid), size: await fieldOf(pid, 'VmRSS') });
  }
  return found.toSorted((a, b) => b.size - a.size)[0]?.pid;
}

/** Matches the command line of the page reader, built (`workers/readers.ts`) or from source. */
const readsPages = /\/pages\.mjs|\/pages\/child\.ts/u;

/** The resident memory of the worker and of its page readers; NaN if the operating system does not report it. */
async function residentIn(worker: number | undefined): Promise<Omit<Memory, 'at'>> {
  if (worker === undefined) return { worker: Number.NaN, beside: Number.NaN };
  let readers = 0;
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/u.test(name))) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (!readsPages.test(command) || (await fieldOf(pid, 'PPid')) !== worker) continue;
    readers += await fieldOf(pid, 'VmRSS');
  }
  return { worker: (await fieldOf(String(worker), 'VmRSS')) / 1024, beside: readers / 1024 };
}

/** The worker's live memory after a garbage collection: its heap, and buffers referenced from the heap. */
async function aliveAsMemory(): Promise<Omit<Memory, 'at'>> {
  const { heap, external } = await memory.alive();
  return { worker: heap / 2 ** 20, beside: external / 2 ** 20 };
}
