/**
 * Benchmark of what the system costs on one machine. It measures the processor time of a chat message and of a
 * document, by process. It also measures the time to the first frame of an answer, the time to an indexed document, the
 * memory when idle and the time of a warm start. `npm run bench -- cost [message|document|idle]`
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { apiAt } from '../test/kit/harness.ts';
import { ask, newCustomer, p50, questions } from './chat.ts';
import { cpuByKind, onStage, processesOf, untilIndexed, type Kind, type Stage } from './stage.ts';

const target = { cpu: 55, crowd: 350, first: 30, document: 80, documents: 7, idleMiB: 1_200, startMs: 4_000 };
const warmUp = 40;
const messages = 200;
const crowd = 20;
const crowdRounds = 10;
const root = fileURLToPath(new URL('..', import.meta.url));
const parts = ['message', 'document', 'idle'] as const;

export async function run(): Promise<void> {
  const asked = process.argv[3];
  const chosen = (part: (typeof parts)[number]): boolean => asked === undefined || asked === part;
  if (!parts.some(chosen)) throw new Error(`There are only: ${parts.join(', ')}`);
  const missed: string[] = [];
  if (chosen('message'))
    await onStage(
      async (stage) => {
        await untilIndexed(stage, true);
        missed.push(...(await costOfMessages(stage)));
      },
      {},
      { help: true },
    );
  // Documents are measured without vectors, because the models' processor time would hide that of everything else.
  if (chosen('document'))
    await onStage(async (stage) => void missed.push(...(await costOfDocuments(stage))), { EMBEDDING: 'off' });
  if (chosen('idle')) missed.push(...(await whenIdle()));
  console.log(missed.length === 0 ? 'All that was asked for was reached.' : `Not reached: ${missed.join('; ')}`);
  if (missed.length > 0) process.exitCode = 1;
}

/**
 * Runs `work`, which handles `count` messages or documents. Prints the processor time of one by kind of process, and
 * returns the sum, in ms.
 */
async function costing(stage: Stage, count: number, work: () => Promise<void>): Promise<number> {
  const before = await cpuByKind(stage);
  await work();
  const after = await cpuByKind(stage);
  // Two kinds are left out: `start` is this benchmark's own process, and readers that have ended cannot be counted.
  const ours = (Object.keys(after) as Kind[]).filter((kind) => kind !== 'start' && kind !== 'readers');
  const each = ours.map((kind) => ({ kind, ms: (after[kind] - before[kind]) / count }));
  const sum = each.reduce((total, { ms }) => total + ms, 0);
  console.log(
    `    processor time of one: ${sum.toFixed(1)} ms (${each.map(({ kind, ms }) => `${kind} ${ms.toFixed(1)}`).join(', ')})`,
  );
  return sum;
}

async function costOfMessages(stage: Stage): Promise<string[]> {
  const missed: string[] = [];
  const clients = await Promise.all(Array.from({ length: crowd }, () => newCustomer(stage)));
  const question = (who: number, n: number): string => questions[(who + n) % questions.length]!;
  for (let n = 0; n < warmUp; n += 1) await ask(clients[n % crowd]!, question(n, 0));
  const alone: number[] = [];
  console.log(`  ${messages} messages, one after the other`);
  const cpuAlone = await costing(stage, messages, async () => {
    for (let n = 0; n < messages; n += 1) alone.push((await ask(clients[n % crowd]!, question(n, 1))).start);
  });
  console.log(`    first frame p50 ${p50(alone).toFixed(0)} ms (to reach: ${target.first})`);
  const together: number[] = [];
  console.log(`  ${crowd} customers at the same moment, ${crowdRounds} times`);
  const cpuTogether = await costing(stage, crowd * crowdRounds, async () => {
    for (let n = 0; n < crowdRounds; n += 1)
      together.push(
        ...(await Promise.all(clients.map((client, who) => ask(client, question(who, n))))).map(({ start }) => start),
      );
  });
  console.log(`    first frame p50 ${p50(together).toFixed(0)} ms (to reach: ${target.crowd})`);
  for (const client of clients) await client.close();
  if (Math.max(cpuAlone, cpuTogether) > target.cpu) missed.push('processor time of a message');
  if (p50(alone) > target.first) missed.push('first frame alone');
  if (p50(together) > target.crowd) missed.push('first frame of 20');
  return missed;
}

const handbook = (n: number): string =>
  Array.from(
    { length: 6 },
    (_, at) =>
      `## Chapter ${at} of book ${n}\n\nThe fee of service ${n}.${at} is ${n + at} EUR a year. It is due in March.\n`,
  ).join('\n');

async function costOfDocuments(stage: Stage): Promise<string[]> {
  const api = apiAt(stage.url);
  let uploaded = 0;
  /**
   * Uploads a document and returns the time until it is indexed, in ms. `closely`: asks for its status a hundred times
   * a second instead of at most forty times.
   */
  const one = async (closely = false): Promise<number> => {
    const began = performance.now();
    uploaded += 1;
    const file = { name: `book-${uploaded}.md`, content: handbook(uploaded) };
    const { body } = await api.upload(stage.orgId, stage.key, file);
    const path = `/orgs/${stage.orgId}/documents/${body.document.doc_id}`;
    const look = async () => (await api.request('GET', path, { token: stage.key })).body.document;
    if (closely) while (!['indexed', 'failed'].includes((await look()).status)) await sleep(10);
    const document = await api.processed(stage.orgId, stage.key, body.document.doc_id);
    if (document.status !== 'indexed') throw new Error(JSON.stringify(document));
    return performance.now() - began;
  };
  for (let n = 0; n < 10; n += 1) await one();
  const paused: number[] = [];
  console.log('  40 documents, each a second after the last one was indexed');
  await costing(stage, 40, async () => {
    for (let n = 0; n < 40; n += 1) {
      await sleep(1_000);
      paused.push(await one(true));
    }
  });
  console.log(`    upload to indexed p50 ${p50(paused).toFixed(0)} ms (to reach: ${target.document})`);
  const alone: number[] = [];
  console.log('  40 documents, one after the other');
  await costing(stage, 40, async () => {
    for (let n = 0; n < 40; n += 1) alone.push(await one());
  });
  console.log(`    upload to indexed p50 ${p50(alone).toFixed(0)} ms (to reach: ${target.document})`);
  const began = performance.now();
  console.log('  20 documents at once, 5 times');
  await costing(stage, 100, async () => {
    for (let n = 0; n < 5; n += 1) await Promise.all(Array.from({ length: 20 }, () => one()));
  });
  const rate = 100 / ((performance.now() - began) / 1000);
  console.log(`    ${rate.toFixed(1)} a second (to reach: ${target.documents})`);
  return [
    ...(p50(alone) > target.document ? ['document'] : []),
    ...(rate < target.documents ? ['documents at once'] : []),
  ];
}

/** A worker ends its embedding models after five minutes without work. So the memory is measured after six. */
const idleMs = 6 * 60_000;

/**
 * Measures `npm start` with warm caches: the time until its screen, and its memory six minutes later (proportional set
 * size).
 */
async function whenIdle(): Promise<string[]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'support-bench-'));
  // With the port 0, each start takes a port that is free then.
  const env = { ...process.env, PORT: '0', DATA_DIR: dataDir };
  const start = async (): Promise<{ ms: number; stop(): Promise<void> }> => {
    const began = performance.now();
    const child = spawn(process.execPath, ['engines/run.mjs', 'engines/start.ts'], {
      cwd: root,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    let printed = '';
    const { promise: ready, resolve } = Promise.withResolvers<void>();
    child.stdout.on('data', (piece: Buffer) => {
      printed += piece.toString();
      if (/^ready /mu.test(printed)) resolve();
    });
    await Promise.race([ready, ended]);
    const ms = performance.now() - began;
    if (child.exitCode !== null) throw new Error(printed);
    return {
      ms,
      async stop() {
        child.kill('SIGINT');
        await ended;
      },
    };
  };
  try {
    // The first start creates the data and the caches.
    await (await start()).stop();
    const starts: number[] = [];
    let mib = 0;
    for (let n = 0; n < 3; n += 1) {
      const { ms, stop } = await start();
      starts.push(ms);
      console.log(`  warm start: ${Math.round(ms)} ms (to reach: ${target.startMs})`);
      if (n < 2) await stop();
      else
        await sleep(idleMs)
          .then(async () => (mib = await idle(dataDir)))
          .finally(stop);
    }
    return [...(p50(starts) > target.startMs ? ['start'] : []), ...(mib > target.idleMiB ? ['memory'] : [])];
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function idle(dataDir: string): Promise<number> {
  const mib: Partial<Record<Kind, number>> = {};
  for (const { pid, kind } of await processesOf(dataDir)) mib[kind] = (mib[kind] ?? 0) + (await pssMiB(pid));
  const sum = Object.values(mib).reduce((total, one) => total + one, 0);
  const each = Object.entries(mib).map(([kind, one]) => `${kind} ${Math.round(one)}`);
  console.log(`  idle: ${Math.round(sum)} MiB (${each.join(', ')}; to reach: ${target.idleMiB})`);
  return sum;
}

async function pssMiB(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
  return Number(/^Pss:\s+(\d+)/mu.exec(rollup)?.[1] ?? 0) / 1024;
}
