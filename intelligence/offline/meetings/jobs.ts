/** The jobs that read a whole transcript. A thread runs them for long transcripts, by these names. */
import { tellingSentences, utterancesOf, type Utterance } from './digest.ts';
import type { Meeting } from './reading.ts';
import { summarizeMeeting as summarize } from './summary.ts';
import { findTasks as find, type FoundTasks } from './tasks.ts';
import type { SummaryMode, SummaryText } from '../../../models/rules/interviews/summary.ts';
import type { Said } from '../../../models/rules/interviews/transcript.ts';

type Recorded = Meeting & { said: readonly Said[] };

/** `said` has at least one segment. */
export const summarizeMeeting = ({ mode, said, ...meeting }: Recorded & { mode: SummaryMode }): SummaryText =>
  summarize(said, meeting, mode);

export const findTasks = ({ said, ...meeting }: Recorded): FoundTasks => find(said, meeting);

/** The most informative sentences, in transcript order; together they have about `characters` characters. */
export function condense({ said, characters }: { said: readonly Said[]; characters: number }): Utterance[] {
  const utterances = utterancesOf(said);
  const average =
    said.reduce((sum, { speaker, text }) => sum + speaker.length + text.length + 3, 0) / utterances.length;
  return tellingSentences(utterances, Math.min(400, Math.floor(characters / average)));
}
