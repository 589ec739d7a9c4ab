/**
 * Benchmark of many interviews starting in the same minute, and of response times meanwhile. Goals: 500 interviews
 * start within 60 s. With 500 open, a start or a cancel is answered in p50 under 60 ms and p99 under 300 ms. An
 * interview has at most 80 history events from scheduled to completed. `npm run bench -- interviews 50` uses another
 * number than 500.
 */
import { Client, Connection } from '@temporalio/client';
import { countActions, inLanes, onStage, quantile, type Stage } from './stage.ts';
import { interviewing } from '../test/kit/interviewing.ts';

const count = Number(process.argv[3] ?? 500);
/** The number of members and candidates who act concurrently. */
const lanes = 8;
const samples = 200;
const pauseMs = 20;

export async function run(): Promise<void> {
  await onStage(measure);
}

async function measure(stage: Stage): Promise<void> {
  const env = { DATA_DIR: stage.dataDir, MONGODB_URI: stage.mongodbUri, TEMPORAL_ADDRESS: stage.temporalAddress };
  const kit = await interviewing(env, stage.url);
  const connection = await Connection.connect({ address: stage.temporalAddress });
  try {
    const mine = kit.of(await kit.api.newOrg());
    const open = await startTogether(kit, mine);
    await answerTimes(mine, open.length);
    await historyOf(kit, mine, new Client({ connection }));
  } finally {
    await connection.close();
    await kit.close();
  }
}

type Kit = Awaited<ReturnType<typeof interviewing>>;
type Member = ReturnType<Kit['of']>;
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Schedules all interviews for one moment, waits until all have started, and reports how late each one was. */
async function startTogether({ db }: Kit, mine: Member): Promise<string[]> {
  // This leaves enough time to create all interviews, at about 30 a second on a busy machine.
  const due = new Date(Date.now() + 15_000 + count * 40);
  const order = { scheduled_at: due.toISOString(), meeting_url: 'https://meet.example/1' };
  const began = performance.now();
  const ids: string[] = [];
  await inLanes(Array.from({ length: count }), lanes, async () => void ids.push(await mine.create(order)));
  const created = (performance.now() - began) / 1_000;
  if (Date.now() > due.getTime()) throw new Error('Creating them took longer than until their time.');
  const started = { _id: { $in: ids as never[] }, status: 'bot_deployed' };
  while ((await db.collection('interviews').countDocuments(started)) < count) {
    if (Date.now() > due.getTime() + 300_000) throw new Error('They had not all started after five minutes.');
    await sleep(250);
  }
  const records = await db
    .collection<{ history: { operation: string; at: Date }[]; updated_at: Date }>('interviews')
    .find({ _id: { $in: ids as never[] } })
    .toArray();
  const late = records
    .map(
      ({ history }) => (history.find(({ operation }) => operation === 'start')!.at.getTime() - due.getTime()) / 1_000,
    )
    .toSorted((a, b) => a - b);
  const stored = Math.max(...records.map(({ updated_at }) => updated_at.getTime())) - due.getTime();
  console.log(`${count} interviews scheduled for the same moment (created in ${created.toFixed(1)} s):`);
  console.log(
    `  started after it               p50 ${quantile(late, 0.5).toFixed(1)} s, p99 ${quantile(late, 0.99).toFixed(1)} s, last ${late.at(-1)!.toFixed(1)} s (at most: 60 s)`,
  );
  console.log(`  all stored, rooms open         ${(stored / 1_000).toFixed(1)} s after it`);
  return ids;
}

/** How long a start and a cancel take while other interviews are open. */
async function answerTimes(mine: Member, open: number): Promise<void> {
  const times: Record<'start' | 'cancel', number[]> = { start: [], cancel: [] };
  for (let n = 0; n < samples; n += 1) {
    const id = await mine.create();
    for (const operation of ['start', 'cancel'] as const) {
      await sleep(pauseMs);
      const began = performance.now();
      const { status, body } = await mine.call('POST', `/${id}/${operation}`);
      times[operation].push(performance.now() - began);
      if (status !== 200) throw new Error(`${operation}: ${status} ${JSON.stringify(body)}`);
    }
  }
  console.log(`Answers with ${open} interviews open, ${samples} of each (asked: p50 60 ms, p99 300 ms):`);
  for (const [operation, seen] of Object.entries(times))
    console.log(
      `  ${operation.padEnd(30)} p50 ${quantile(seen, 0.5).toFixed(0)} ms, p99 ${quantile(seen, 0.99).toFixed(0)} ms`,
    );
}

/** The number of history events of one interview in Temporal, from scheduled to completed. */
async function historyOf({ handle }: Kit, mine: Member, temporal: Client): Promise<void> {
  const id = await mine.bring('completed', { scheduled_at: new Date(Date.now() + 86_400_000).toISOString() });
  const { workflowId } = handle(id);
  const { events } = await temporal.workflow.getHandle(workflowId).fetchHistory();
  console.log(
    `History of one, scheduled to completed: ${events!.length} events (at most: 80), ${countActions(events!)} actions`,
  );
}
