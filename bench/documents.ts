/**
 * Benchmark of the time from upload to indexed, one document at a time. Goals: p50 under 200 ms for a 5-page Markdown
 * file; at most 17 events and 3 actions in the workflow's history.
 */
import { readFile } from 'node:fs/promises';
import { Client, Connection } from '@temporalio/client';
import { countActions, onStage, quantile, type Stage } from './stage.ts';
import { apiAt } from '../test/kit/harness.ts';

const warmUp = 15;
const documents = 30;
const pauseMs = 2_000;
const burst = 20;

export async function run(): Promise<void> {
  await onStage(async (stage) => {
    const connection = await Connection.connect({ address: stage.temporalAddress });
    try {
      await measure(stage, new Client({ connection }));
    } finally {
      await connection.close();
    }
  });
}

async function measure({ url, orgId, key }: Stage, temporal: Client): Promise<void> {
  const api = apiAt(url);
  const text = await readFile(new URL('../test/fixtures/help.md', import.meta.url), 'utf8');
  let serial = 0;
  const uploaded = async () => {
    const started = performance.now();
    const { status, body } = await api.upload(orgId, key, { name: 'help.md', content: `${text}\n\nCopy ${serial++}.` });
    if (status !== 201) throw new Error(`upload: ${status} ${JSON.stringify(body)}`);
    const accepted = performance.now() - started;
    const docId = body.document.doc_id as string;
    const end = await polled(() => api.request('GET', `/orgs/${orgId}/documents/${docId}`, { token: key }));
    if (end !== 'indexed') throw new Error(`the document ended ${end}`);
    return { docId, accepted, indexed: performance.now() - started };
  };

  for (let n = 0; n < warmUp; n++) await uploaded();
  const alone = [];
  for (let n = 0; n < documents; n++) {
    alone.push(await uploaded());
    // Pauses between uploads like a person. The next file reader is started after each upload, and its start is not
    // measured.
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  const accepted = alone.map((d) => d.accepted).toSorted((a, b) => a - b);
  const indexed = alone.map((d) => d.indexed).toSorted((a, b) => a - b);
  console.log(`Markdown of ${text.length} characters (5 pages), one at a time, ${documents} documents:`);
  console.log(`  upload answered     p50 ${quantile(accepted, 0.5).toFixed(0)} ms`);
  console.log(
    `  upload to indexed   p50 ${quantile(indexed, 0.5).toFixed(0)} ms (to stay under: 200), p90 ${quantile(indexed, 0.9).toFixed(0)} ms, p99 ${quantile(indexed, 0.99).toFixed(0)} ms`,
  );

  const history = await temporal.workflow.getHandle(`document:${alone.at(-1)!.docId}`).fetchHistory();
  const events = history.events ?? [];
  // Retries and heartbeats would be actions too, but none occur here.
  const actions = countActions(events);
  console.log(`  history events      ${events.length} (at most: 17)`);
  console.log(`  Temporal actions    ${actions} (at most: 3)`);

  const started = performance.now();
  await Promise.all(Array.from({ length: burst }, uploaded));
  const seconds = (performance.now() - started) / 1000;
  console.log(
    `${burst} at once: all indexed after ${seconds.toFixed(1)} s, ${(burst / seconds).toFixed(1)} documents/s`,
  );
}

/** Polls every 5 ms until the document is done, like an impatient client. */
async function polled(look: () => Promise<{ body: { document: { status: string } } }>): Promise<string> {
  for (let tries = 0; tries < 20_000; tries++) {
    const { status } = (await look()).body.document;
    if (status === 'indexed' || status === 'failed') return status;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error('the document was not processed');
}
