/**
 * Benchmark of a storm: two workers are killed in turns, thirty times, while documents are uploaded, customers write
 * and a site is crawled. Goal: everything that was accepted is done within 30 s of the last kill.
 * `npm run bench -- storm [embedding]`: with the embedded models, too.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { newCustomer, questions } from './chat.ts';
import { onStage, unlimited, untilIndexed, type Stage } from './stage.ts';
import { apiAt, until } from '../test/kit/harness.ts';
import { startProcess, type Running } from '../test/kit/processes.ts';

const kills = 30;
/** The time from when a worker is ready until it is killed, in ms. */
const livesMs = 1_000;
const customers = 10;
const pages = 150;
const targetS = 30;
/** The stage's own worker does only maintenance, so that all of this work is done by the workers that are killed. */
const ownFleet = { FLEETS: 'maintenance', EGRESS_ALLOW: '127.0.0.1' };

export async function run(): Promise<void> {
  const models: { EMBEDDING?: string } = process.argv[3] === 'embedding' ? {} : { EMBEDDING: 'off' };
  await onStage((stage) => storm(stage, models), { ...ownFleet, ...models }, { help: true });
}

async function storm(stage: Stage, models: { EMBEDDING?: string }): Promise<void> {
  const api = apiAt(stage.url);
  const env = {
    ...unlimited,
    ...models,
    DATA_DIR: stage.dataDir,
    MONGODB_URI: stage.mongodbUri,
    TEMPORAL_ADDRESS: stage.temporalAddress,
    SEARCH_URI: stage.searchUri,
    EGRESS_ALLOW: ownFleet.EGRESS_ALLOW,
    PUBLIC_URL: stage.url,
  };
  const start = (): Promise<Running> => startProcess('workers/main.ts', env);
  const workers = [start(), start()];
  await Promise.all(workers);
  await untilIndexed(stage, models.EMBEDDING !== 'off');
  const site = await startProcess('bench/site.ts', { DATA_DIR: stage.dataDir });
  const clients = await Promise.all(Array.from({ length: customers }, () => newCustomer(stage)));
  const begun = await api.request('POST', `/orgs/${stage.orgId}/crawl`, {
    token: stage.key,
    body: { url: site.url, options: { max_pages: pages } },
  });
  if (begun.status !== 202) throw new Error(JSON.stringify(begun.body));
  const documents: string[] = [];
  let said = 0;
  for (let kill = 0; kill < kills; kill += 1) {
    const file = { name: `box-${kill}.md`, content: `# Box ${kill}\n\nThe box ${kill} costs ${kill} EUR a year.` };
    documents.push((await api.upload(stage.orgId, stage.key, file)).body.document.doc_id);
    for (const client of clients) client.say(questions[kill % questions.length]!, crypto.randomUUID());
    said += clients.length;
    const worker = await workers[kill % 2]!;
    await sleep(livesMs);
    await worker.kill();
    workers[kill % 2] = start();
  }
  const last = performance.now();
  const since = (): string => `${((performance.now() - last) / 1000).toFixed(1)} s`;
  await Promise.all([
    until(async () => answersOf(clients) >= said, `${said} answers`).then(() => console.log(`  answers    ${since()}`)),
    Promise.all(documents.map((id) => api.processed(stage.orgId, stage.key, id))).then(() =>
      console.log(`  documents  ${since()}`),
    ),
    until(async () => {
      const { body } = await api.request('GET', `/orgs/${stage.orgId}/crawl/status`, { token: stage.key });
      return body.status.status !== 'crawling';
    }, 'the crawl').then(() => console.log(`  crawl      ${since()}`)),
  ]);
  const settledS = (performance.now() - last) / 1000;
  console.log(`  settled ${settledS.toFixed(1)} s after the last of ${kills} kills (to reach: ${targetS})`);
  if (settledS > targetS) process.exitCode = 1;
  for (const client of clients) await client.close();
  await Promise.all(workers.map(async (worker) => (await worker).stop()));
  await site.stop();
}

const answersOf = (clients: Awaited<ReturnType<typeof newCustomer>>[]): number =>
  clients.reduce((sum, client) => sum + client.all('reply_end').length, 0);
