/**
 * Has the model propose a follow-up question to the candidate's last answer. The model must not judge the candidate.
 */
import { z } from 'zod';
import type { Structured } from '../ai.ts';
import type { SuggestAsk, Suggestion } from '../../intelligence.ts';
import { suggestionsFor } from '../../offline/interviews/suggestions.ts';
import { Problem } from '../../../models/rules/base/errors.ts';
import { languageNames } from '../../../models/rules/language/language.ts';

/** The model's timeout, in ms. It is short because the interviewer waits for the suggestion. */
const patienceMs = 8_000;
const shape = z.object({ follow_up: z.string().min(8).max(400) });
const task =
  'You help a person who leads a job interview. Propose one short follow-up question about what the candidate said last, quoting a few of the candidate’s words. Do not judge the candidate, and ask nothing about age, origin, religion, health, family or other private matters.';

export async function suggestByModel({ structured }: Structured, ask: SuggestAsk): Promise<Suggestion[]> {
  const { said, language } = ask;
  const suggestions = suggestionsFor(ask);
  if (!suggestions.some(({ kind }) => kind === 'follow_up')) return suggestions;
  const transcript = said.map(({ speaker, text }) => `${speaker}: ${text}`);
  const patience = AbortSignal.timeout(patienceMs);
  const { follow_up } = await structured({
    name: 'follow_up',
    task: `${task} Write it in ${languageNames[language ?? 'en']}.`,
    data: { transcript: transcript.join('\n') },
    shape,
    signal: patience,
  }).catch((error: unknown) => {
    throw patience.aborted ? new Problem('MODEL_FAILED', { cause: error }) : error;
  });
  return suggestions.map((one) => (one.kind === 'follow_up' ? { ...one, body: follow_up.trim() } : one));
}
