/**
 * Benchmark of one organization's single document while another organization has hundreds waiting. Goal: at most twice
 * the time that the document takes alone.
 */
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inLanes, onStage, quantile, type Stage } from './stage.ts';
import { demoOrganization } from '../engines/demo.ts';
import { apiAt } from '../test/kit/harness.ts';

const warmUp = 10;
const samples = 20;
const pauseMs = 1_500;
const backlog = 300;
type Owner = { orgId: string; key: string };

export async function run(): Promise<void> {
  await onStage(async (stage) => {
    const folder = join(stage.dataDir, 'other');
    await mkdir(folder);
    const other = await demoOrganization(stage.url, folder);
    await measure(stage, stage, { orgId: other.org_id, key: other.key });
  });
}

async function measure({ url }: Stage, many: Owner, single: Owner): Promise<void> {
  const api = apiAt(url);
  const text = await readFile(new URL('../test/fixtures/help.md', import.meta.url), 'utf8');
  let serial = 0;
  const upload = async ({ orgId, key }: Owner): Promise<string> => {
    const { status, body } = await api.upload(orgId, key, { name: 'help.md', content: `${text}\n\nCopy ${serial++}.` });
    if (status !== 201) throw new Error(`upload: ${status} ${JSON.stringify(body)}`);
    return body.document.doc_id as string;
  };
  const statusOf = async ({ orgId, key }: Owner, docId: string): Promise<string> => {
    const { body } = await api.request('GET', `/orgs/${orgId}/documents/${docId}`, { token: key });
    return body.document.status as string;
  };
  const timed = async (): Promise<number> => {
    const started = performance.now();
    const docId = await upload(single);
    for (;;) {
      const status = await statusOf(single, docId);
      if (status === 'indexed') return performance.now() - started;
      if (status === 'failed') throw new Error('the document failed');
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const series = async (): Promise<number[]> => {
    const seen: number[] = [];
    for (let n = 0; n < samples; n++) {
      seen.push(await timed());
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    return seen.toSorted((a, b) => a - b);
  };

  for (let n = 0; n < warmUp; n++) await timed();
  const alone = await series();
  const waiting: string[] = [];
  await inLanes(Array.from({ length: backlog }), 4, async () => void waiting.push(await upload(many)));
  const started = performance.now();
  const beside = await series();
  const seconds = (performance.now() - started) / 1000;
  const last = await statusOf(many, waiting.at(-1)!);
  let done = 0;
  for (const docId of waiting) if ((await statusOf(many, docId)) === 'indexed') done += 1;

  const line = (seen: number[]) =>
    `p50 ${quantile(seen, 0.5).toFixed(0)} ms, p90 ${quantile(seen, 0.9).toFixed(0)} ms, worst ${seen.at(-1)!.toFixed(0)} ms`;
  console.log(`A document of ${text.length} characters, upload to indexed, ${samples} times:`);
  console.log(`  alone                          ${line(alone)}`);
  console.log(`  while another's ${backlog} wait      ${line(beside)}`);
  console.log(
    `  share of the medians           ${(quantile(beside, 0.5) / quantile(alone, 0.5)).toFixed(2)} (at most: 2)`,
  );
  console.log(
    `  of the ${backlog}, indexed by then    ${done} (after ${seconds.toFixed(0)} s; the last one is ${last})`,
  );
}
