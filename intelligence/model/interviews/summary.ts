/**
 * Has the model summarize a meeting. The action items of the summary are the tasks that the model finds in the meeting.
 * If the transcript is too long for the model, rules find the tasks.
 */
import { z } from 'zod';
import { isReadable, tasksByModel } from './tasks.ts';
import type { Structured } from '../ai.ts';
import type { MeetingAsk, MeetingSummary } from '../../intelligence.ts';
import { doOnTranscript } from '../../offline/meetings/thread.ts';
import { actionItemOf } from '../../../models/rules/interviews/found.ts';
import {
  shortSentences,
  shortWords,
  type SummaryMode,
  type SummaryText,
} from '../../../models/rules/interviews/summary.ts';
import type { Said } from '../../../models/rules/interviews/transcript.ts';
import { sentences } from '../../../models/rules/language/sentences.ts';

/**
 * The model's maximum input, in characters (about 12,000 tokens). If a transcript is longer, the model gets its most
 * informative sentences.
 */
const maxRead = 48_000;

const shape = z.object({
  summary: z.string().min(1).max(20_000),
  key_points: z.array(z.string().min(1).max(1_000)).max(30),
});
const { min, max } = shortSentences;
const tasks: Record<SummaryMode, string> = {
  short: `You summarize a meeting from its transcript, in the language of the transcript. "summary" is one paragraph of ${min} to ${max} sentences, no more and no fewer, and at most ${shortWords} words.`,
  long: 'You summarize a meeting from its transcript, in the language of the transcript. "summary" is a detailed breakdown by topic: what was said by whom, what was decided, and what stayed open.',
};
const rest =
  ' "key_points" are the most important points, a sentence each. Say nothing that the transcript does not say.';

export async function meetingByModel(ai: Structured, { mode, ...recorded }: MeetingAsk): Promise<MeetingSummary> {
  const text = await ai.structured({
    name: 'meeting_summary',
    task: tasks[mode] + rest,
    data: { transcript: await written(recorded.said) },
    shape,
    problemOf: (value) => summaryProblem(mode, value),
  });
  const { tasks: found } = await (isReadable(recorded.said)
    ? tasksByModel(ai, recorded)
    : doOnTranscript('findTasks', recorded));
  return { ...text, action_items: found.map(actionItemOf), generated_by: 'model' };
}

/** The error in a summary, as a sentence for the model's retry; undefined when the summary is valid. */
export function summaryProblem(mode: SummaryMode, { summary }: Pick<SummaryText, 'summary'>): string | undefined {
  const count = sentences(summary).length;
  if (count === 0) return 'the summary is empty.';
  if (mode === 'long') return undefined;
  const { min, max } = shortSentences;
  return count >= min && count <= max ? undefined : `the summary has ${count} sentences, not ${min} to ${max}.`;
}

/** The transcript as text for the model, one line per segment. */
async function written(said: readonly Said[]): Promise<string> {
  const whole = said.map(({ speaker, text }) => `${speaker}: ${text}`).join('\n');
  if (whole.length <= maxRead) return whole;
  const chosen = await doOnTranscript('condense', { said, characters: maxRead });
  return chosen
    .map(({ speaker, text }) => `${speaker}: ${text}`)
    .join('\n')
    .slice(0, maxRead);
}
