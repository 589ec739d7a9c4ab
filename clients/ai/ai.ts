/**
 * A language model behind any OpenAI-compatible endpoint: answers from given sources, and embeddings. What the sources say is
 * data to it, never instructions, and an answer that names no source it was given is no answer. Without a model it says so
 * (`model` is undefined) and the caller answers extractively.
 */
import { randomBytes } from 'node:crypto';
import OpenAI, { APIConnectionTimeoutError, APIError, APIUserAbortError } from 'openai';
import { Problem } from '../../models/rules/base/errors.ts';
import { nothingFound } from '../../models/rules/knowledge/extractive.ts';
import { answerMessages, answerSchema, parseAnswer, parseRewrite, repairMessage, responseFormat } from './prompt.ts';
import { rewriteFormat, rewriteMessages, rules } from './prompt.ts';
import type { AnswerAsk, Message, ModelAnswer, RewriteAsk } from './prompt.ts';
import { createLeakGuard, type LeakGuard } from './leak.ts';
import { createMemberReader } from './partial.ts';

export type { AnswerAsk, RewriteAsk } from './prompt.ts';

export type AiOptions = {
  /** `…/v1`; the library's own default when only a key is given. */
  baseUrl?: string | undefined;
  apiKey?: string | undefined;
  model?: string | undefined;
  embeddingModel?: string | undefined;
  /** For one attempt to answer whole, or, while streaming, for the next piece to arrive. */
  timeoutMs?: number | undefined;
  /** For everything one call does, waiting for `Retry-After` included. Twice `timeoutMs` when not given. */
  budgetMs?: number | undefined;
  /** Unguessable, new for each request: fences the sources. */
  nonce?: () => string;
  /** Milliseconds since some moment, for pauses. */
  now?: (() => number) | undefined;
  /** Resolves after so many milliseconds, rejects when aborted. Tests need not wait. */
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
};

export type Answer = {
  text: string;
  /** Ids of the sources it rests on; empty when `has_context` is false. */
  used: string[];
  has_context: boolean;
};

export type AnswerOptions = { signal?: AbortSignal | undefined };

/** `restart`: what was streamed so far is void, the answer begins anew. `done` is last and carries the checked answer. */
export type AnswerEvent = { type: 'text'; text: string } | { type: 'restart' } | { type: 'done'; answer: Answer };

export type Ai = {
  /** Undefined: no model is configured; `answer` and `stream` throw. */
  model: string | undefined;
  embeddingModel: string | undefined;
  /** @throws Problem MODEL_FAILED when the endpoint fails for good or answers what cannot be used. */
  answer(ask: AnswerAsk, options?: AnswerOptions): Promise<Answer>;
  /** The same, as it is written. The streamed text is provisional until `done`. */
  stream(ask: AnswerAsk, options?: AnswerOptions): AsyncGenerator<AnswerEvent, void, undefined>;
  /** A message that leans on what was said before, as a question understood by itself. @throws Problem MODEL_FAILED. */
  rewrite(ask: RewriteAsk, options?: AnswerOptions): Promise<string>;
  /** One vector for each text, in order. @throws Problem MODEL_FAILED. */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<number[][]>;
  /**
   * The vector of a question that somebody waits for: has little time, and when the endpoint is out of order a pause in
   * which it fails at once, since its words find most of what it asks. @throws Problem MODEL_FAILED.
   */
  embedQuestion(text: string): Promise<number[]>;
};

const maxAttempts = 4;
/** A stream that never ends is cut off after so many times `timeoutMs` … */
const longestStream = 6;
/** … or characters: three times what an answer may have. */
const maxReplyLength = 60_000;
/** For a question's vector; endpoints that work need a tenth of it. */
const questionMs = 1_500;
/** How long an endpoint that is out of order is not asked for further questions' vectors … */
const questionPauseMs = 15_000;
/** … which it is when it does not answer, or fails so many in a row: some fail a single text that is too long for them. */
const failuresToPause = 3;
/** Texts of one embedding request: half of what common endpoints allow at most, so that a refused one costs little. */
const embeddingBatch = 64;
/** About 2,000 tokens; endpoints refuse inputs beyond 8,192. Chunks are far shorter. */
const maxEmbeddingLength = 8_000;

type Format = 'schema' | 'none';
type Call<T> = (signal: AbortSignal) => Promise<T>;

export function createAi(options: AiOptions = {}): Ai {
  const {
    timeoutMs = 30_000,
    sleep = sleepFor,
    now = Date.now,
    nonce = () => randomBytes(9).toString('base64url'),
  } = options;
  const budgetMs = options.budgetMs ?? 2 * timeoutMs;
  const configured = Boolean(options.apiKey) || Boolean(options.baseUrl);
  const model = configured && options.model ? options.model : undefined;
  const embeddingModel = configured && options.embeddingModel ? options.embeddingModel : undefined;
  // Retries, time limits and their budget are decided here, so the library's own are off.
  const client = configured
    ? new OpenAI({
        apiKey: options.apiKey ?? 'none',
        baseURL: options.baseUrl ?? null,
        maxRetries: 0,
        timeout: budgetMs,
        logLevel: 'off',
      })
    : undefined;
  // Some compatible endpoints refuse `response_format`; then the prompt alone asks for JSON.
  let format: Format = 'schema';
  let pausedUntil = -Infinity;
  let failuresInARow = 0;

  function need(name: string | undefined): { client: OpenAI; name: string } {
    if (client === undefined || name === undefined)
      throw new Problem('MODEL_FAILED', { message: 'No language model is configured.' });
    return { client, name };
  }

  /** Tries again what may pass by itself, within the budget; everything else, and the last failure, becomes a Problem. */
  async function persist<T>(outer: AbortSignal | undefined, deadline: number, call: Call<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const left = deadline - Date.now();
      const limit = AbortSignal.timeout(Math.max(1, Math.min(timeoutMs, left)));
      try {
        return await call(outer === undefined ? limit : AbortSignal.any([outer, limit]));
      } catch (error) {
        outer?.throwIfAborted();
        const wait = retryDelay(error, attempt);
        if (wait === undefined || attempt >= maxAttempts || Date.now() + wait >= deadline) throw failed(error);
        await sleep(wait, outer ?? AbortSignal.timeout(budgetMs * 2));
      }
    }
  }

  function body(name: string, messages: Message[], wanted: typeof responseFormat | typeof rewriteFormat) {
    return {
      model: name,
      messages,
      temperature: 0,
      ...(format === 'schema' ? { response_format: wanted } : {}),
    };
  }

  /** Runs a request; when the endpoint doesn't know `response_format`, once more without. */
  async function withFormat<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      const refused =
        error instanceof APIError &&
        [400, 422].includes(error.status ?? 0) &&
        /response_format|json_schema/iu.test(error.message);
      if (!refused || format === 'none') throw error;
      format = 'none';
      return call();
    }
  }

  async function complete(
    messages: Message[],
    outer: AbortSignal | undefined,
    deadline: number,
    wanted: typeof responseFormat | typeof rewriteFormat = responseFormat,
  ): Promise<string> {
    const { client: api, name } = need(model);
    return persist(outer, deadline, async (signal) =>
      withFormat(async () => {
        const reply = await abortable(api.chat.completions.create(body(name, messages, wanted), { signal }), signal);
        return reply.choices?.[0]?.message?.content ?? '';
      }),
    );
  }

  /** Yields the pieces as they come; each has `timeoutMs` to arrive. */
  async function* pieces(
    messages: Message[],
    outer: AbortSignal | undefined,
    deadline: number,
  ): AsyncGenerator<string> {
    const { client: api, name } = need(model);
    const idle = new AbortController();
    const signal = outer === undefined ? idle.signal : AbortSignal.any([outer, idle.signal]);
    const open = async (limit: AbortSignal) =>
      withFormat(async () => {
        const request = api.chat.completions.create(
          { ...body(name, messages, responseFormat), stream: true },
          { signal },
        );
        return abortable(request, limit);
      });
    let timer: NodeJS.Timeout | undefined;
    try {
      const stream = await persist(outer, deadline, open);
      const end = Date.now() + longestStream * timeoutMs;
      const arm = (): void => {
        const limit = Math.max(1, Math.min(timeoutMs, end - Date.now()));
        timer = setTimeout(() => idle.abort(new DOMException('The stream stood still.', 'TimeoutError')), limit);
      };
      arm();
      let length = 0;
      for await (const chunk of stream) {
        // A slow reader of ours is not a slow endpoint: no time runs while a piece is being taken.
        clearTimeout(timer);
        const piece = chunk.choices?.[0]?.delta?.content;
        length += piece?.length ?? 0;
        if (length > maxReplyLength) throw new Error('The reply is too long.');
        if (typeof piece === 'string' && piece !== '') yield piece;
        arm();
      }
      if (idle.signal.aborted) throw idle.signal.reason;
    } catch (error) {
      outer?.throwIfAborted();
      throw failed(error);
    } finally {
      clearTimeout(timer);
      idle.abort();
    }
  }

  async function* stream(ask: AnswerAsk, { signal }: AnswerOptions = {}): AsyncGenerator<AnswerEvent, void, undefined> {
    const deadline = Date.now() + budgetMs;
    const { messages, guard } = told(ask);
    const reader = createMemberReader('answer');
    let raw = '';
    let text = '';
    let shown = 0;
    for await (const piece of pieces(messages, signal, deadline)) {
      raw += piece;
      text += reader.read(piece);
      const safe = guard.safeLength(text);
      if (safe === undefined) throw repeated();
      if (safe > shown) yield { type: 'text', text: text.slice(shown, safe) };
      shown = Math.max(shown, safe);
    }
    const first = parseAnswer(raw);
    if (first.ok) {
      const answer = settle(first.value, ask, guard);
      if (!answer.has_context) yield { type: 'restart' };
      else if (text.length > shown) yield { type: 'text', text: text.slice(shown) };
      yield { type: 'done', answer };
      return;
    }
    yield { type: 'restart' };
    yield { type: 'done', answer: settle(await repaired(messages, raw, first.problem, signal, deadline), ask, guard) };
  }

  /** What the model is told, and the guard of what it was told. */
  function told(ask: AnswerAsk): { messages: Message[]; guard: LeakGuard } {
    const value = nonce();
    return { messages: answerMessages(ask, value), guard: createLeakGuard(rules(value), value) };
  }

  /** The one try to repair an answer that is not what was asked for. */
  async function repaired(
    messages: Message[],
    raw: string,
    problem: string,
    signal: AbortSignal | undefined,
    deadline: number,
  ): Promise<ModelAnswer> {
    const again = [...messages, { role: 'assistant' as const, content: raw.slice(0, 4_000) }, repairMessage(problem)];
    const second = parseAnswer(await complete(again, signal, Math.max(deadline, Date.now() + timeoutMs)));
    if (second.ok) return second.value;
    throw new Problem('MODEL_FAILED', { cause: new Error(second.problem) });
  }

  async function embedBatch(
    texts: readonly string[],
    outer: AbortSignal | undefined,
    withinMs: number,
  ): Promise<number[][]> {
    const { client: api, name } = need(embeddingModel);
    const input = texts.map((text) => text.slice(0, maxEmbeddingLength) || ' ');
    const reply = await persist(outer, Date.now() + withinMs, async (signal) =>
      abortable(api.embeddings.create({ model: name, input, encoding_format: 'float' }, { signal }), signal),
    );
    return checkedVectors(reply?.data, input.length);
  }

  return {
    model,
    embeddingModel,
    stream,

    async answer(ask, { signal } = {}) {
      const deadline = Date.now() + budgetMs;
      const { messages, guard } = told(ask);
      const raw = await complete(messages, signal, deadline);
      const first = parseAnswer(raw);
      const value = first.ok ? first.value : await repaired(messages, raw, first.problem, signal, deadline);
      return settle(value, ask, guard);
    },

    async rewrite(ask, { signal } = {}) {
      // Somebody waits, and a search by the message alone is better than none.
      const deadline = Date.now() + budgetMs / 4;
      const question = parseRewrite(await complete(rewriteMessages(ask, nonce()), signal, deadline, rewriteFormat));
      if (question === undefined) throw new Problem('MODEL_FAILED', { cause: new Error('it wrote no question') });
      return question;
    },

    async embed(texts, outer) {
      const vectors: number[][] = [];
      for (let at = 0; at < texts.length; at += embeddingBatch)
        vectors.push(...(await embedBatch(texts.slice(at, at + embeddingBatch), outer, budgetMs)));
      if (vectors.some((vector) => vector.length !== vectors[0]?.length)) throw new Problem('MODEL_FAILED');
      return vectors;
    },

    async embedQuestion(text) {
      if (now() < pausedUntil) throw new Problem('MODEL_FAILED', { cause: new Error('it failed a moment ago') });
      try {
        const [vector] = await embedBatch([text], undefined, Math.min(questionMs, budgetMs));
        failuresInARow = 0;
        return vector!;
      } catch (error) {
        if (!isRefusal(error)) failuresInARow += 1;
        if (isSilence(error) || failuresInARow >= failuresToPause) {
          pausedUntil = now() + questionPauseMs;
          failuresInARow = 0;
        }
        throw error;
      }
    },
  };
}

/** Numbers become ids; a number that was never given is dropped, and an answer that rests on nothing is no answer. */
function settle(value: ModelAnswer, ask: AnswerAsk, guard: LeakGuard): Answer {
  if (guard.leaks(value.answer)) throw repeated();
  const used = [...new Set(value.sources)].flatMap((number) => ask.hits[number - 1]?.id ?? []);
  const text = value.answer.trim();
  if (!value.answered || used.length === 0 || text === '') return { text: nothingFound, used: [], has_context: false };
  return { text, used: [...new Set(used)], has_context: true };
}

const repeated = (): Problem =>
  new Problem('MODEL_FAILED', { message: 'The configured language model repeated its instructions.' });

function checkedVectors(data: unknown, expected: number): number[][] {
  const list = answerSchema.vectors.safeParse(data);
  if (!list.success || list.data.length !== expected) {
    throw new Problem('MODEL_FAILED', {
      message: 'The configured embedding model did not give one vector for each text.',
    });
  }
  return list.data.sort((a, b) => a.index - b.index).map(({ embedding }) => embedding);
}

/** Whether the endpoint refused this request at once, which tells nothing of the next one. */
function isRefusal(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof APIError && cause.status !== undefined && cause.status < 500 && cause.status !== 429;
}

/** Whether the endpoint gave no answer at all: out of time, or no connection. */
function isSilence(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return isTimeout(cause) || (cause instanceof APIError && cause.status === undefined);
}

/** Milliseconds to wait before trying again; undefined when trying again will not help. */
function retryDelay(error: unknown, attempt: number): number | undefined {
  const backoff = 250 * 2 ** (attempt - 1) * (1 + Math.random() / 4);
  // A hang is not tried again: whoever waits has waited long enough.
  if (error instanceof APIConnectionTimeoutError || error instanceof APIUserAbortError || isTimeout(error))
    return undefined;
  if (!(error instanceof APIError)) return undefined;
  if (error.status === undefined) return backoff;
  if (error.status !== 429 && error.status !== 409 && error.status < 500) return undefined;
  return retryAfter(error) ?? backoff;
}

/** What `Retry-After` (or the finer `retry-after-ms`) says, in milliseconds. */
function retryAfter(error: APIError): number | undefined {
  const { headers } = error;
  const fine = Number(headers?.get('retry-after-ms') ?? Number.NaN);
  if (Number.isFinite(fine) && fine >= 0) return fine;
  const value = headers?.get('retry-after');
  if (value === null || value === undefined) return undefined;
  const ms = /^\d+(?:\.\d+)?$/u.test(value.trim()) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

const isTimeout = (error: unknown): boolean =>
  ['TimeoutError', 'AbortError'].includes(String((error as { name?: unknown } | null)?.name));

/** What callers are told: that it failed and how, never the endpoint's own words, which may hold what they should not see. */
function failed(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const status = error instanceof APIError ? error.status : undefined;
  const wait = error instanceof APIError && status === 429 ? retryAfter(error) : undefined;
  const headers = wait === undefined ? {} : { 'Retry-After': String(Math.ceil(wait / 1_000)) };
  const why =
    status === 429
      ? 'is over its rate limit; try again later.'
      : status === 401 || status === 403
        ? 'refused our credential; check its configuration.'
        : status !== undefined && status < 500
          ? `refused the request (HTTP ${status}).`
          : status !== undefined
            ? `failed (HTTP ${status}); try again.`
            : isTimeout(error) || error instanceof APIUserAbortError || error instanceof APIConnectionTimeoutError
              ? 'did not answer in time; try again.'
              : 'did not give a usable answer; try again.';
  return new Problem('MODEL_FAILED', { message: `The configured language model ${why}`, cause: error, headers });
}

/** Ends when the signal does, also where the library's own waiting (a body that never comes) does not. */
async function abortable<T>(work: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason as Error);
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

async function sleepFor(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onAbort = (): void => reject(signal.reason as Error);
  signal.addEventListener('abort', onAbort, { once: true });
  const timer = setTimeout(resolve, ms);
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}
