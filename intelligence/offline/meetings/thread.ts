/**
 * Reads transcripts, long ones in a thread. The largest transcript that can be stored takes about ten seconds of CPU
 * time, which would hold up the other requests of the process.
 */
import { Tinypool } from 'tinypool';
import * as jobs from './jobs.ts';
import { Problem } from '../../../models/rules/base/errors.ts';

type Jobs = typeof jobs;
const here: Jobs = { ...jobs };

/** A longer transcript, in characters, is read in the thread. A shorter one takes at most about 50 ms. */
const maxHere = 20_000;
/** At most this many transcripts wait for the thread, because each keeps its text in memory. */
const maxWaiting = 20;

let pool: Tinypool | undefined;
/**
 * Returns the pool, and creates it for the first long transcript. The pool always keeps one thread, because a pool
 * without a thread forgets the waiting jobs when a thread dies.
 */
const opened = (): Tinypool =>
  (pool ??= new Tinypool({ filename: new URL('jobs.ts', import.meta.url).href, minThreads: 1, maxThreads: 1 }));

/**
 * Does a job, in the thread if the transcript is long. The thread does one job after the other.
 * @throws Problem UNAVAILABLE when too many transcripts wait for the thread.
 */
export async function doOnTranscript<Name extends keyof Jobs>(
  name: Name,
  given: Parameters<Jobs[Name]>[0],
): Promise<ReturnType<Jobs[Name]>> {
  const length = given.said.reduce((sum, { text }) => sum + text.length, 0);
  if (length <= maxHere) {
    const job = here[name] as (asked: typeof given) => ReturnType<Jobs[Name]>;
    return job(given);
  }
  const thread = opened();
  if (thread.queueSize >= maxWaiting)
    throw new Problem('UNAVAILABLE', { message: 'Many long transcripts are being read; try again in a minute.' });
  return thread.run(given, { name }) as Promise<ReturnType<Jobs[Name]>>;
}
