/**
 * Benchmark of GET one document with an API key, compared with bare Koa and one findOne. Goal: at least 0.7 of Koa's
 * requests per second. Each connection starts at a different document, because concurrent reads of one id would be
 * merged into a single read. That would improve this system's numbers unfairly.
 */
import autocannon from 'autocannon';
import { inLanes, onStage, quantile, type Stage } from './stage.ts';
import { apiAt } from '../test/kit/harness.ts';
import { startProcess } from '../test/kit/processes.ts';

// There are many short alternating rounds, because the machine's speed varies by the minute.
const rounds = 20;
const seconds = 1;
/** The warm-up is long enough for both servers to be fully JIT-compiled, which took ten seconds on a slow machine. */
const warmUpSeconds = 15;
const connections = 16;
const documentCount = 64;

export async function run(): Promise<void> {
  await onStage(async (stage) => {
    const peer = await startProcess('bench/peers/koa.ts', { DATA_DIR: stage.dataDir, MONGODB_URI: stage.mongodbUri });
    try {
      await compare(stage, peer.url);
    } finally {
      await peer.stop();
    }
  });
}

async function compare({ url, orgId, key }: Stage, peerUrl: string): Promise<void> {
  const api = apiAt(url);
  const ids: string[] = [];
  await inLanes(Array.from({ length: documentCount }), 4, async (_, index) => {
    const { body } = await api.upload(orgId, key, { name: `${index}.md`, content: `Fact number ${index}.` });
    ids.push(body.document.doc_id as string);
  });
  for (const id of ids) await api.processed(orgId, key, id);
  const contestants = [
    { name: 'bare Koa + findOne', url: peerUrl, requests: ids.map((id) => ({ path: `/documents/${id}` })) },
    {
      name: 'GET document with a key',
      url,
      requests: ids.map((id) => ({ path: `/v1/orgs/${orgId}/documents/${id}` })),
      headers: { authorization: `Bearer ${key}` },
    },
  ];
  const rates = contestants.map((): number[] => []);
  // The rounds alternate between both servers, so that the machine's state is the same. Round 0 is a warm-up and does
  // not count.
  for (let round = 0; round <= rounds; round++) {
    for (const [index, { name, ...target }] of contestants.entries()) {
      let begun = 0;
      const result = await autocannon({
        ...target,
        connections,
        duration: round === 0 ? warmUpSeconds : seconds,
        setupClient(client) {
          const first = (begun++ * target.requests.length) / connections;
          client.setRequests([...target.requests.slice(first), ...target.requests.slice(0, first)]);
        },
      });
      if (result.non2xx > 0 || result.errors > 0)
        throw new Error(`${name}: ${result.non2xx} bad answers, ${result.errors} errors`);
      if (round === 0) continue;
      rates[index]!.push(result.requests.average);
      console.log(
        `  round ${round}  ${name.padEnd(24)} ${Math.round(result.requests.average)}/s  p99 ${result.latency.p99} ms`,
      );
    }
  }
  const [bare, ours] = rates.map((all) => quantile(all, 0.5)) as [number, number];
  console.log(`${rounds} rounds of ${seconds} s, ${connections} connections, medians:`);
  console.log(`  bare Koa + findOne       ${Math.round(bare)}/s`);
  console.log(`  GET document with a key  ${Math.round(ours)}/s`);
  console.log(`  share ${(ours / bare).toFixed(2)} (to reach: 0.7)`);
}
