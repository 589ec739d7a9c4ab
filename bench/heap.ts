/**
 * This module is loaded into a process with `--import` when a benchmark measures memory from inside. It reports over a
 * Unix socket how much memory is live after a garbage collection. It does nothing until it is asked, and nothing in
 * other processes.
 */
import { rmSync } from 'node:fs';
import { createServer, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { isMainThread } from 'node:worker_threads';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Sizes in bytes. Live memory is the objects (`heap`) and their buffers outside the heap (`external`). */
export type Alive = { heap: number; external: number; resident: number };

/** A program whose memory is measured, given by its path from the project's root. */
export type Watched = {
  /** Environment variables for the measured program. They do no harm in other processes. */
  settings: Record<string, string>;
  /** Collects garbage, which pauses the program for some tenths of a second, and returns the live memory. */
  alive(): Promise<Alive>;
};

/** A name that is equal for a program's source and its built form. */
function nameOf(program: string): string {
  return program.replace(/\.(ts|mjs)$/u, '');
}

export function watched(program: string): Watched {
  const path = join(tmpdir(), `support-bench-${process.pid}-${program.replaceAll('/', '-')}.sock`);
  const options = [process.env['NODE_OPTIONS'] ?? '', `--import=${import.meta.url}`];
  return {
    settings: { NODE_OPTIONS: options.join(' ').trim(), BENCH_HEAP_SOCKET: path, BENCH_HEAP_PROGRAM: nameOf(program) },
    alive: async () => JSON.parse(await text(connect(path))) as Alive,
  };
}

const socket = process.env['BENCH_HEAP_SOCKET'];
if (
  socket !== undefined &&
  isMainThread &&
  nameOf(process.argv[1] ?? '').endsWith(process.env['BENCH_HEAP_PROGRAM']!)
) {
  // The function `gc` exists only in contexts created after the flag is set.
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  createServer((asking) => {
    collect();
    const { heapUsed: heap, external, rss: resident } = process.memoryUsage();
    asking.end(JSON.stringify({ heap, external, resident } satisfies Alive));
  })
    .listen(socket)
    .unref();
  process.once('exit', () => rmSync(socket, { force: true }));
}
