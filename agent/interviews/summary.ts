/**
 * Summarizes a meeting: in the words of a language model where one is configured, and in the transcript's own otherwise, or
 * when the model fails. Its action items are the tasks that tasks.ts finds. It stores nothing.
 */
import { z } from 'zod';
import { findTasks, type Recorded } from './tasks.ts';
import type { Ai } from '../../clients/ai/ai.ts';
import { tellingSentences, titleOf, utterancesOf } from '../../intelligence/offline/meetings/digest.ts';
import { summarizeMeeting } from '../../intelligence/offline/meetings/summary.ts';
import {
  shortSentences,
  shortWords,
  summaryProblem,
  type SummaryMode,
  type SummaryText,
} from '../../models/rules/interviews/summary.ts';
import type { Said } from '../../models/rules/interviews/transcript.ts';
import { actionItemOf } from '../../models/rules/interviews/found.ts';

export type Summary = SummaryText & { generated_by: 'extractive' | 'model' };

/** What a model is given at most, in characters, some twelve thousand tokens; of a longer transcript what tells most of it. */
const maxRead = 48_000;

const shape = z.object({
  summary: z.string().min(1).max(20_000),
  key_points: z.array(z.string().min(1).max(1_000)).max(30),
});
const schema = {
  type: 'object',
  additionalProperties: false,
  required: ['summary', 'key_points'],
  properties: { summary: { type: 'string' }, key_points: { type: 'array', items: { type: 'string' } } },
};

const { min, max } = shortSentences;
const tasks: Record<SummaryMode, string> = {
  short: `You summarize a meeting from its transcript, in the language of the transcript. "summary" is one paragraph of ${min} to ${max} sentences, no more and no fewer, and at most ${shortWords} words.`,
  long: 'You summarize a meeting from its transcript, in the language of the transcript. "summary" is a detailed breakdown by topic: what was said by whom, what was decided, and what stayed open.',
};
const rest =
  ' "key_points" are the most important points, a sentence each. Say nothing that the transcript does not say.';

/** `told`: the model failed, and why. */
export async function summarize(
  ai: Pick<Ai, 'model' | 'structured'>,
  mode: SummaryMode,
  meeting: Recorded,
  told: (error: unknown) => void,
): Promise<Summary> {
  if (ai.model !== undefined) {
    try {
      const text = await ai.structured({
        name: 'meeting_summary',
        task: tasks[mode] + rest,
        data: { transcript: written(meeting.said) },
        shape,
        schema,
        problemOf: (value) => summaryProblem(mode, value),
      });
      const found = await findTasks(ai, meeting, told);
      return { ...text, action_items: found.tasks.map(actionItemOf), generated_by: 'model' };
    } catch (error) {
      told(error);
    }
  }
  const made = summarizeMeeting(meeting.said, meeting);
  const { [mode]: summary, key_points, action_items } = made;
  return { summary, key_points: key_points[mode], action_items, generated_by: 'extractive' };
}

/** The phrase of a transcript that names it; undefined when nothing is said that names anything. */
export const meetingTitle = (said: readonly Said[]): string | undefined => titleOf(utterancesOf(said));

/** A transcript as a model reads it, a line for each piece of speech. */
function written(said: readonly Said[]): string {
  const whole = said.map(({ speaker, text }) => `${speaker}: ${text}`).join('\n');
  if (whole.length <= maxRead) return whole;
  const utterances = utterancesOf(said);
  const average = whole.length / utterances.length;
  const chosen = tellingSentences(utterances, Math.min(400, Math.floor(maxRead / average)));
  return chosen
    .map(({ speaker, text }) => `${speaker}: ${text}`)
    .join('\n')
    .slice(0, maxRead);
}
