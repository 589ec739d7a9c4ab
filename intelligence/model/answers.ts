/**
 * Asks a chat model for answers and checks the replies. A reply that cites no source counts as no answer, and a reply
 * that repeats the prompt's rules is refused.
 */
import type { AskingOptions, Completions } from './completions.ts';
import { createLeakGuard, type LeakGuard } from './leak.ts';
import { answerFormat, answerMessages, answerSoFar, modelAnswer, parseRewrite, rules } from './prompt.ts';
import { rewriteFormat, rewriteMessages } from './prompt.ts';
import type { AnswerAsk, Message, ModelAnswer, RewriteAsk } from './prompt.ts';
import { read, readOrAskAgain } from './structured.ts';
import { Problem } from '../../models/rules/base/errors.ts';

export type Answer = {
  /** The text of the answer; empty when `has_context` is false. */
  text: string;
  /** Ids of the sources that the answer uses; empty when `has_context` is false. */
  used: string[];
  has_context: boolean;
};

export type CallOptions = { signal?: AbortSignal | undefined };

/** `restart`: all streamed text is void, and the answer starts again. `done` comes last, with the checked answer. */
export type AnswerEvent = { type: 'text'; text: string } | { type: 'restart' } | { type: 'done'; answer: Answer };

export function createAnswerer({ complete, pieces }: Completions, { timeoutMs, budgetMs, nonce }: AskingOptions) {
  /** The prompt, and the guard that detects a reply which repeats the prompt. */
  function prompt(ask: AnswerAsk): { messages: Message[]; guard: LeakGuard } {
    const value = nonce();
    return { messages: answerMessages(ask, value), guard: createLeakGuard(rules(value), value) };
  }

  const readAnswer = (raw: string) => read(raw, modelAnswer);
  const asked = { format: answerFormat, read: readAnswer, timeoutMs };

  return {
    async answer(ask: AnswerAsk, { signal }: CallOptions = {}): Promise<Answer> {
      const deadline = Date.now() + budgetMs;
      const { messages, guard } = prompt(ask);
      const raw = await complete(messages, answerFormat, deadline, signal);
      return settle(await readOrAskAgain(complete, raw, { ...asked, messages, deadline, signal }), ask, guard);
    },

    async *stream(ask: AnswerAsk, { signal }: CallOptions = {}): AsyncGenerator<AnswerEvent, void, undefined> {
      const deadline = Date.now() + budgetMs;
      const { messages, guard } = prompt(ask);
      let raw = '';
      let text = '';
      let shown = 0;
      let seen = 0;
      for await (const piece of pieces(messages, answerFormat, deadline, signal)) {
        raw += piece;
        // `answerSoFar` parses the whole reply each time, so it is called only after the reply has grown by a
        // hundredth.
        if (raw.length - seen < raw.length / 100) continue;
        seen = raw.length;
        text = answerSoFar(raw);
        const safe = guard.safeLength(text);
        if (safe === undefined) throw repeated();
        if (safe > shown) yield { type: 'text', text: text.slice(shown, safe) };
        shown = Math.max(shown, safe);
      }
      const first = readAnswer(raw);
      if (first.ok) {
        const answer = settle(first.value, ask, guard);
        const rest = first.value.answer.slice(shown);
        if (!answer.has_context || !first.value.answer.startsWith(text)) yield { type: 'restart' };
        else if (rest !== '') yield { type: 'text', text: rest };
        yield { type: 'done', answer };
        return;
      }
      yield { type: 'restart' };
      const second = await readOrAskAgain(complete, raw, { ...asked, messages, deadline, signal });
      yield { type: 'done', answer: settle(second, ask, guard) };
    },

    async rewrite(ask: RewriteAsk, { signal }: CallOptions = {}): Promise<string> {
      // A customer waits, so a rewrite gets only a quarter of the time budget. If it takes longer, the original message
      // is searched for, which is better than no search.
      const deadline = Date.now() + budgetMs / 4;
      const question = parseRewrite(await complete(rewriteMessages(ask, nonce()), rewriteFormat, deadline, signal));
      if (question === undefined) throw new Problem('MODEL_FAILED', { cause: new Error('it wrote no question') });
      return question;
    },
  };
}

/** Turns source numbers into ids. Unknown numbers are dropped, and an answer without sources counts as no answer. */
function settle(value: ModelAnswer, ask: AnswerAsk, guard: LeakGuard): Answer {
  if (guard.leaks(value.answer)) throw repeated();
  const used = [...new Set(value.sources)].flatMap((number) => ask.hits[number - 1]?.id ?? []);
  const text = value.answer.trim();
  if (!value.answered || used.length === 0 || text === '') return { text: '', used: [], has_context: false };
  return { text, used: [...new Set(used)], has_context: true };
}

const repeated = (): Problem =>
  new Problem('MODEL_FAILED', { message: 'The configured language model repeated its instructions.' });
