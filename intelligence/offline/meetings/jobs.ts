/** The jobs that read a whole transcript. */
import type { Meeting } from './reading.ts';
import { summarizeMeeting, type Summary } from './summary.ts';
import { findTasks, type FoundTasks } from './tasks.ts';
import type { SummaryMode } from '../../../models/rules/interviews/summary.ts';
import type { Said } from '../../../models/rules/interviews/transcript.ts';

/** `said`: the transcript, with at least one segment for a summary. */
export type Recorded = Meeting & { said: readonly Said[] };

export const jobs = {
  summarizeMeeting: ({ mode, said, ...meeting }: Recorded & { mode: SummaryMode }): Summary =>
    summarizeMeeting(said, meeting, mode),
  findTasks: ({ said, ...meeting }: Recorded): FoundTasks => findTasks(said, meeting),
};

export type JobName = keyof typeof jobs;
export type Given<Name extends JobName> = Parameters<(typeof jobs)[Name]>[0];
export type Result<Name extends JobName> = ReturnType<(typeof jobs)[Name]>;

/** Does a job; also the entry of the thread. */
export default function doJob<Name extends JobName>({ name, given }: { name: Name; given: Given<Name> }): Result<Name> {
  const job = jobs[name] as (given: Given<Name>) => Result<Name>;
  return job(given);
}
