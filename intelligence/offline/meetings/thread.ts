/**
 * Reads transcripts. The largest transcript that can be stored takes some ten seconds of a processor, so a long one is
 * read in a thread, in which it does not hold up other requests of the process.
 */
import type { Tinypool } from 'tinypool';
import doJob, { type Given, type JobName, type Result } from './jobs.ts';

/** A longer transcript, in characters, is read in the thread. Shorter ones take less than some 50 ms. */
const maxHere = 20_000;
/** The thread ends when it had nothing to do for this time, in ms. */
const idleTimeout = 10_000;

let pool: Promise<Tinypool> | undefined;
const opened = (): Promise<Tinypool> =>
  (pool ??= import('tinypool').then(
    ({ Tinypool: Pool }) =>
      new Pool({ filename: new URL('jobs.ts', import.meta.url), minThreads: 0, maxThreads: 1, idleTimeout }),
  ));

/** Does a job, in the thread if the transcript is long. The thread does one job after the other. */
export async function readTranscript<Name extends JobName>(name: Name, given: Given<Name>): Promise<Result<Name>> {
  const length = given.said.reduce((sum, { text }) => sum + text.length, 0);
  if (length <= maxHere) return doJob({ name, given });
  return (await opened()).run({ name, given }) as Promise<Result<Name>>;
}
