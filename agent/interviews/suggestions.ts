/**
 * What an interviewer might ask now: a language model's proposal where one is configured, and rules' otherwise, or when the
 * model fails or takes long. It stores nothing, and judges nobody.
 */
import { z } from 'zod';
import type { Ai } from '../../clients/ai/ai.ts';
import type { Question } from '../../models/rules/interviews/questions.ts';
import { suggestionsFor, type Suggestion } from '../../models/rules/interviews/room.ts';
import type { Said } from '../../models/rules/interviews/transcript.ts';
import { languageNames, type InterviewLanguage } from '../../models/rules/language/language.ts';

/** An interviewer waits for the next words; after this long, in ms, rules propose. */
const patienceMs = 8_000;
/** How many pieces of what was said a model reads: the last ones. */
export const lastSaid = 30;

const shape = z.object({ follow_up: z.string().min(8).max(400) });
const schema = {
  type: 'object',
  additionalProperties: false,
  required: ['follow_up'],
  properties: { follow_up: { type: 'string' } },
};
const task =
  'You help a person who leads a job interview. Propose one short follow-up question about what the candidate said last, quoting a few of the candidate’s words. Do not judge the candidate, and ask nothing about age, origin, religion, health, family or other private matters.';

/** `said`: the last `lastSaid` pieces of what was said; `told`: the model failed, and why. */
export async function suggest(
  ai: Pick<Ai, 'model' | 'structured'>,
  {
    questions,
    asked,
    language,
  }: { questions: readonly Question[]; asked: readonly string[]; language?: InterviewLanguage },
  said: readonly Said[],
  told: (error: unknown) => void,
): Promise<Suggestion[]> {
  const suggestions = suggestionsFor(questions, asked, said.at(-1), language);
  if (ai.model === undefined || !suggestions.some(({ kind }) => kind === 'follow_up')) return suggestions;
  try {
    const transcript = said.map(({ speaker, text }) => `${speaker}: ${text}`);
    const signal = AbortSignal.timeout(patienceMs);
    const { follow_up } = await ai.structured({
      name: 'follow_up',
      task: `${task} Write it in ${languageNames[language ?? 'en']}.`,
      data: { transcript: transcript.join('\n') },
      shape,
      schema,
      signal,
    });
    return suggestions.map((one) => (one.kind === 'follow_up' ? { ...one, body: follow_up.trim() } : one));
  } catch (error) {
    told(error);
    return suggestions;
  }
}
