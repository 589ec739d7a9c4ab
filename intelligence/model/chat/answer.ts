/** Has the model answer from the retrieved passages, and removes sentences that the passages do not support. */
import { gathered } from './gathered.ts';
import { holdAgainst, type Held } from './grounded.ts';
import type { Ai, Answer, AnswerAsk as ModelAsk } from '../ai.ts';
import type { AnswerAsk, AnswerOptions, Listener, Turns, Written } from '../../intelligence.ts';
import { groundsOf } from '../../plain.ts';
import { Problem } from '../../../models/rules/base/errors.ts';
import { passagesOf, type Judged, type Passage } from '../../../models/rules/knowledge/retrieval.ts';
import { createReplyStream, plainReply } from '../../replytext.ts';

/**
 * Pieces of an answer that arrive within this many ms are joined, because each piece is stored and sent to every open
 * socket.
 */
const gatherMs = 40;

/**
 * With low confidence, the model gets the passages that might help (`found.offers`), and decides whether they answer
 * the question. @throws Problem MODEL_FAILED.
 */
export async function answerByModel(
  ai: Pick<Ai, 'model' | 'answer' | 'stream'>,
  { body, history, situation, found }: AnswerAsk,
  { listener, signal }: AnswerOptions = {},
): Promise<Written> {
  const hits = passagesOf(found);
  const grounds = groundsOf(body, hits);
  const ask: ModelAsk = { question: body, history, hits: hits.map(({ passage }) => passage), situation };
  const streamed = listener && (await stream(ai, ask, { grounds, listener, signal }));
  const answer = streamed?.answer ?? (await ai.answer(ask, { signal }));
  const { text, dropped } = heldAgainst(answer, { body, history, situation }, hits);
  const by = { generated_by: 'model', model: ai.model, ...(dropped.length > 0 && { dropped }) } as const;
  if (answer.has_context && text !== '') {
    await streamed?.end();
    return { text: plainReply(text, grounds), used: answer.used, by };
  }
  // The model found no answer, or the passages support none of its sentences.
  await streamed?.takeBack();
  return { text: undefined, used: [], by };
}

type Streamed = {
  answer: Answer;
  /** Shows the text that is still held back. */
  end(): Promise<void>;
  /** Withdraws all text that was shown. */
  takeBack(): Promise<void>;
};

async function stream(
  ai: Pick<Ai, 'stream'>,
  ask: ModelAsk,
  { grounds, listener, signal }: { grounds: readonly string[]; listener: Listener; signal?: AbortSignal | undefined },
): Promise<Streamed> {
  let plain = createReplyStream(grounds);
  let shown = false;
  const show = async (text: string) => {
    if (text !== '') await listener.piece(text);
    shown ||= text !== '';
  };
  const takeBack = async () => {
    if (shown) await listener.again();
    shown = false;
  };
  const over = new AbortController();
  const until = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]);
  try {
    for await (const event of gathered(ai.stream(ask, { signal: until }), gatherMs)) {
      if (event.type === 'text') await show(plain.push(event.text));
      else if (event.type === 'restart') {
        plain = createReplyStream(grounds);
        await takeBack();
      } else return { answer: event.answer, end: async () => show(plain.end()), takeBack };
    }
    throw new Problem('MODEL_FAILED');
  } finally {
    // Ends the request, so that the endpoint stops writing even if the stream was not read to its end.
    over.abort();
  }
}

/** A model's answer without the sentences that its cited passages do not support. */
function heldAgainst(
  { text, used }: Answer,
  { body, history, situation }: { body: string; history: Turns; situation?: Record<string, unknown> | undefined },
  passages: readonly Judged[],
): Held {
  const cited = passages.filter(({ passage }) => used.includes(passage.id));
  const customer = history.filter(({ role }) => role === 'customer' || role === 'user').map((said) => said.body);
  const told = [body, ...customer, ...(situation ? [JSON.stringify(situation)] : [])];
  return holdAgainst(text, { cited: cited.flatMap(({ passage }) => groundsIn(passage)), told });
}

const groundsIn = ({ name, heading, text, url = '' }: Passage): string[] => [name, heading, text, url];
