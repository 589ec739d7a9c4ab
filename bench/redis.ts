/**
 * Benchmark of frames and rate limits over Redis, compared with MongoDB in the same run. For frames it measures their
 * delay and the CPU time of a process that follows one stream in a hundred. For rate limits it measures the time and
 * CPU time of counting a request.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import mongoose from 'mongoose';
import pino from 'pino';
import { createRate, prepareRates } from '../api/http/limits.ts';
import { startTail, type Follower } from '../api/live/tail.ts';
import { readConfig, type Config } from '../config.ts';
import { startMongod } from '../engines/mongod.ts';
import { startRedis } from '../engines/redis.ts';
import { connectMongo, disconnectMongo } from '../models/base/connect.ts';
import { connectRedis, disconnectRedis, redis } from '../models/base/redis.ts';
import { frameWriter } from '../models/live/frame.ts';
import { until } from '../test/kit/harness.ts';
import { cpuMs, inLanes, quantile, unlimited } from './stage.ts';

const [streams, wanted, aSecond, seconds] = [400, 4, 500, 20];
const [checks, atOnce] = [4_000, 32];
const streamOf = (n: number): string => `conv_bench${n}`;
const silent = (): void => undefined;

export async function run(): Promise<void> {
  if (process.env['BENCH_LISTENER'] !== undefined) return listen();
  const mongod = await startMongod({ report: silent });
  const server = await startRedis({ report: silent });
  try {
    for (const url of [undefined, server.url]) {
      const mongodbUri = mongod.uri.replace('/?', `/bench_${url === undefined ? 'mongodb' : 'redis'}?`);
      await connectMongo(mongodbUri);
      connectRedis(url, silent);
      if (url !== undefined) await until(async () => redis()?.status === 'ready', 'Redis');
      const config = readConfig({ ...process.env, ...unlimited, MONGODB_URI: mongodbUri, REDIS_URL: url });
      const counting = (url === undefined ? mongod : server).child.pid;
      await countLimits(config, url === undefined ? 'MongoDB' : 'Redis', counting);
      await sendFrames(mongodbUri, url, counting);
      disconnectRedis();
      await disconnectMongo();
    }
  } finally {
    await server.stop();
    await mongod.stop();
  }
}

async function countLimits(config: Config, name: string, server: number): Promise<void> {
  await prepareRates();
  const rate = createRate(config, 'writes');
  const once = (n: number) => rate.consume(`caller${n % 50}`, 1);
  await inLanes(Array.from({ length: 500 }), atOnce, async (_, n) => void (await once(n)));
  const waits: number[] = [];
  const before = [process.cpuUsage(), await cpuMs(server)] as const;
  await inLanes(Array.from({ length: checks }), atOnce, async (_, n) => {
    const began = performance.now();
    await once(n);
    waits.push(performance.now() - began);
  });
  const own = process.cpuUsage(before[0]);
  const micros = [(own.user + own.system) / checks, ((await cpuMs(server)) - before[1]) * (1000 / checks)];
  console.log(
    `${name}: a limit counted, ${atOnce} at once: p50 ${quantile(waits, 0.5).toFixed(1)} ms, p99 ${quantile(waits, 0.99).toFixed(1)} ms; CPU ${micros[0]!.toFixed(0)} µs here, ${micros[1]!.toFixed(0)} µs in ${name}`,
  );
}

/** Appends frames to all streams in this process, while a child process follows a few of the streams. */
async function sendFrames(mongodbUri: string, url: string | undefined, server: number): Promise<void> {
  const child = fork(fileURLToPath(new URL('run.ts', import.meta.url)), ['redis'], {
    env: { ...process.env, BENCH_LISTENER: mongodbUri, ...(url === undefined ? {} : { BENCH_REDIS: url }) },
  });
  await once(child, 'message');
  const writers = Array.from({ length: streams }, (_, n) =>
    frameWriter({ orgId: `org_bench${n % 100}`, stream: streamOf(n), keptUntil: () => ({}) }, () => new Date()),
  );
  for (const writer of writers) await writer.append({ type: 'begin', body: {} });
  const before = [await cpuMs(child.pid), await cpuMs(server)] as const;
  const began = performance.now();
  const appended: Promise<number>[] = [];
  for (let n = 0; n < aSecond * seconds; n += 1) {
    appended.push(writers[n % streams]!.append({ type: 'line', body: { sent: Date.now() } }));
    const due = began + (n / aSecond) * 1000 - performance.now();
    if (due > 1) await sleep(due);
  }
  await Promise.all(appended);
  const took = (performance.now() - began) / 1000;
  const used = [(await cpuMs(child.pid)) - before[0], (await cpuMs(server)) - before[1]];
  const answer = once(child, 'message');
  child.send('end');
  const [delays] = (await answer) as [number[]];
  await once(child, 'exit');
  const share = (ms: number) => `${(ms / took / 10).toFixed(1)} %`;
  console.log(
    `frames over ${url === undefined ? 'the change stream' : 'Redis'}, ${(appended.length / took).toFixed(0)} a second, ${delays.length} wanted: delay p50 ${quantile(delays, 0.5)} ms, p99 ${quantile(delays, 0.99)} ms; CPU of the process that follows ${share(used[0]!)}, of ${url === undefined ? 'MongoDB' : 'Redis'} ${share(used[1]!)}`,
  );
}

async function listen(): Promise<void> {
  await connectMongo(process.env['BENCH_LISTENER']!);
  connectRedis(process.env['BENCH_REDIS'], silent);
  if (redis()) await until(async () => redis()?.status === 'ready', 'Redis');
  const delays: number[] = [];
  const tail = startTail({
    log: pino({ level: 'silent' }),
    watched: [],
    ended: silent,
    heard: silent,
    missed: silent,
    renewed: silent,
  });
  for (let n = 0; n < wanted; n += 1) {
    const follower: Follower = {
      orgId: 'org_bench',
      stream: streamOf(n * (streams / wanted)),
      seq: 0,
      deliver: ({ body }) => {
        if (typeof body['sent'] === 'number') delays.push(Date.now() - body['sent']);
      },
      ready: async () => undefined,
    };
    await tail.follow(follower);
  }
  await sleep(1_000);
  process.send!('ready');
  await once(process, 'message');
  await sleep(2_000);
  process.send!(delays);
  await tail.close();
  disconnectRedis();
  await mongoose.disconnect();
  process.disconnect();
}
