/**
 * Summarizes a meeting: in the words of a language model where one is configured, and in the transcript's own otherwise, or
 * when the model fails. It stores nothing.
 */
import { z } from 'zod';
import type { Ai } from '../../clients/ai/ai.ts';
import {
  extractSummary,
  shortSentences,
  summaryProblem,
  type Summarized,
  type SummaryMode,
  type SummaryText,
} from '../../models/rules/interviews/summary.ts';
import { tellingSentences, utterancesOf } from '../../models/rules/interviews/digest.ts';
import type { Said } from '../../models/rules/interviews/transcript.ts';

export type Summary = SummaryText & { generated_by: 'extractive' | 'model' };

/** What a model is given at most, in characters, some twelve thousand tokens; of a longer transcript what tells most of it. */
const maxRead = 48_000;

const shape = z.object({
  summary: z.string().min(1).max(20_000),
  key_points: z.array(z.string().min(1).max(1_000)).max(30),
  action_items: z.array(z.string().min(1).max(1_000)).max(50),
});
const strings = { type: 'array', items: { type: 'string' } };
const schema = {
  type: 'object',
  additionalProperties: false,
  required: ['summary', 'key_points', 'action_items'],
  properties: { summary: { type: 'string' }, key_points: strings, action_items: strings },
};

const { min, max } = shortSentences;
const tasks: Record<SummaryMode, string> = {
  short: `You summarize a meeting from its transcript, in the language of the transcript. "summary" is one paragraph of ${min} to ${max} sentences, no more and no fewer.`,
  long: 'You summarize a meeting from its transcript, in the language of the transcript. "summary" is a detailed breakdown by topic: what was said by whom, what was decided, and what stayed open.',
};
const rest =
  ' "key_points" are the most important points, a sentence each. "action_items" are what somebody promised or was asked to do, each beginning with who does it. Say nothing that the transcript does not say.';

/** `told`: the model failed, and why. */
export async function summarize(
  ai: Pick<Ai, 'model' | 'structured'>,
  mode: SummaryMode,
  meeting: Summarized,
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
      return { ...text, generated_by: 'model' };
    } catch (error) {
      told(error);
    }
  }
  return { ...extractSummary(mode, meeting), generated_by: 'extractive' };
}

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
