/**
 * Loaded into a worker by `--import` when a benchmark looks at its memory from inside: tells over a Unix socket what is
 * alive after a garbage collection. It changes nothing unless it is asked, and does nothing in any other process.
 */
import { rmSync } from 'node:fs';
import { createServer, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { isMainThread } from 'node:worker_threads';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Bytes that are alive: objects, and what belongs to objects without lying in the heap (buffers). */
export type Alive = { heap: number; external: number };

/** The environment of a process in which `aliveIn` can look; `socket` is a path that is not taken. */
export function heapSettings(socket: string): Record<string, string> {
  const options = [process.env['NODE_OPTIONS'] ?? '', `--import=${import.meta.url}`];
  return { NODE_OPTIONS: options.join(' ').trim(), BENCH_HEAP_SOCKET: socket };
}

/** Has the worker behind `socket` collect its garbage, which stops it for some tenths of a second. */
export async function aliveIn(socket: string): Promise<Alive> {
  return JSON.parse(await text(connect(socket))) as Alive;
}

const socket = process.env['BENCH_HEAP_SOCKET'];
if (socket !== undefined && isMainThread && process.argv[1]?.endsWith('workers/main.ts')) {
  // The function exists only in contexts made after the flag is set.
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  createServer((asking) => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    asking.end(JSON.stringify({ heap: heapUsed, external } satisfies Alive));
  })
    .listen(socket)
    .unref();
  process.once('exit', () => rmSync(socket, { force: true }));
}
