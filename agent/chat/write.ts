/** Writing an answer from the passages that were found: by the model while it streams, or in the sources' own sentences. */
import { groundsOf, heldAgainst, type Found } from '../knowledge/answer.ts';
import type { AgentDeps, Turns } from '../knowledge/deps.ts';
import { passagesOf, sayExtractive } from '../knowledge/extracting.ts';
import { gathered } from './gathered.ts';
import type { Written } from './record.ts';
import type { AnswerAsk } from '../../clients/ai/ai.ts';
import { Problem } from '../../models/rules/base/errors.ts';
import { createReplyStream, plainReply } from '../../models/rules/language/replytext.ts';
import type { Language } from '../../models/rules/language/language.ts';

/** Pieces of an answer are gathered this long: each is a frame that is stored and sent to every socket. */
const gatherMs = 40;

/** Where the text goes while it is written. What was given before `again` is void. */
export type Listener = { piece(text: string): Promise<void>; again(): Promise<void> };

/** What is to be answered: `history` and `situation` as in `Asked`. `language`: the customer's. */
export type WriteAsk = {
  body: string;
  history: Turns;
  language: Language;
  situation?: Record<string, unknown> | undefined;
};

/**
 * The answer that the passages give, by the model or in their own sentences; undefined when they do not answer. Passages that may
 * help are offered, but a model is given them, and judges.
 */
export async function write(
  deps: Pick<AgentDeps, 'ai' | 'embedding'>,
  asked: WriteAsk,
  found: Found,
  listener: Listener,
  signal?: AbortSignal,
): Promise<Written> {
  const { ai } = deps;
  if (found.retrieval.confidence === 'none') return { text: undefined, used: [], by: { generated_by: 'fixed' } };
  if (!ai.model) return writeExtractive(deps, asked, found, listener);
  let shown = false;
  const noting: Listener = {
    piece: (text) => ((shown = true), listener.piece(text)),
    again: () => ((shown = false), listener.again()),
  };
  try {
    return await writeByModel(deps, asked, found, noting, signal);
  } catch (error) {
    signal?.throwIfAborted();
    // A frame that could not be appended is no failure of the model.
    if (!(error instanceof Problem)) throw error;
    if (shown) await listener.again();
    const written = await writeExtractive(deps, asked, found, listener);
    return { ...written, by: { ...written.by, model_error: error.message } };
  }
}

export async function writeExtractive(
  deps: Pick<AgentDeps, 'embedding'>,
  asked: WriteAsk,
  { retrieval }: Found,
  listener: Listener,
): Promise<Written> {
  const said = retrieval.confidence === 'none' ? undefined : await sayExtractive(deps, retrieval, asked);
  if (!said) return { text: undefined, used: [], by: { generated_by: 'fixed' } };
  const { used, offers } = said;
  const text = plainReply(said.text, groundsOf(asked.body, passagesOf(retrieval)));
  await listener.piece(text);
  return { text, used, ...(offers && { offers }), by: { generated_by: 'extractive' } };
}

async function writeByModel(
  { ai }: Pick<AgentDeps, 'ai'>,
  asked: WriteAsk,
  { retrieval }: Found,
  listener: Listener,
  signal?: AbortSignal,
): Promise<Written> {
  const { body, history, situation } = asked;
  const hits = passagesOf(retrieval);
  const grounds = groundsOf(body, hits);
  let stream = createReplyStream(grounds);
  let shown = false;
  const show = async (text: string) => {
    if (text !== '') await listener.piece(text);
    shown ||= text !== '';
  };
  const ask: AnswerAsk = { question: body, history, hits: hits.map(({ passage }) => passage), situation };
  const over = new AbortController();
  const until = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]);
  try {
    for await (const event of gathered(ai.stream(ask, { signal: until }), gatherMs)) {
      if (event.type === 'text') await show(stream.push(event.text));
      else if (event.type === 'restart') {
        stream = createReplyStream(grounds);
        if (shown) await listener.again();
        shown = false;
      } else {
        const { used, has_context } = event.answer;
        const { text, dropped } = heldAgainst(event.answer, asked, hits);
        const by = { model: ai.model!, ...(dropped.length > 0 && { dropped }) };
        if (has_context && text !== '') {
          await show(stream.end());
          return { text: plainReply(text, grounds), used, by: { generated_by: 'model', ...by } };
        }
        // What was shown of it is void: none of its sentences stands in the passages.
        if (shown) await listener.again();
        return { text: undefined, used: [], by: { generated_by: 'fixed', ...by } };
      }
    }
    throw new Problem('MODEL_FAILED');
  } finally {
    // However this ended, the endpoint need not write on.
    over.abort();
  }
}
