/**
 * Loaded into a process by `--import` when a benchmark measures its memory from inside: reports over a Unix socket how
 * much memory is live after a garbage collection. It changes nothing until it is asked, and does nothing in any other
 * process.
 */
import { rmSync } from 'node:fs';
import { createServer, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { isMainThread } from 'node:worker_threads';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** In bytes. Live memory is objects (`heap`) and the buffers of objects outside the heap (`external`). */
export type Alive = { heap: number; external: number; resident: number };

/** A program whose memory is measured, by its path from the root of the project. */
export type Watched = {
  /** Variables that the program's environment needs. Its other processes may have them, too. */
  settings: Record<string, string>;
  /** Makes it collect its garbage, which stops it for some tenths of a second. */
  alive(): Promise<Alive>;
};

/** The same of a program's sources and of its built form. */
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
  // The function exists only in contexts made after the flag is set.
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
