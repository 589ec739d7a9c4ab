/** Requests replies of a chat model, complete or as a stream. */
import type OpenAI from 'openai';
import { APIError } from 'openai/core/error';
import { z } from 'zod';
import type { Format } from './format.ts';
import type { Message } from './prompt.ts';
import { count } from '../../clients/base/meter.ts';
import { abortable } from '../../clients/base/abortable.ts';
import type { Endpoint } from '../../clients/openai/endpoint.ts';
import { failed } from '../../clients/openai/failures.ts';

/** Settings that all requests to a model share. */
export type AskingOptions = {
  timeoutMs: number;
  budgetMs: number;
  /**
   * Returns an unguessable value for each request. It delimits the sources in the prompt, so that no text in a source
   * can pass for the end of the source.
   */
  nonce: () => string;
};

/** A stream is aborted after this many times `timeoutMs`. */
const longestStream = 6;
/** A stream is aborted after this many characters, three times the longest answer. */
const maxReplyLength = 60_000;

export type Completions = {
  /** @throws Problem MODEL_FAILED, or the abort reason of `outer`. `deadline`: ms since 1970. */
  complete(messages: Message[], wanted: Format, deadline: number, outer?: AbortSignal): Promise<string>;
  /** Yields the pieces of a reply as they arrive; each piece must arrive within `timeoutMs`. @throws as `complete`. */
  pieces(messages: Message[], wanted: Format, deadline: number, outer?: AbortSignal): AsyncGenerator<string>;
  /** A reply that may contain function calls. @throws as `complete`. */
  converse(
    messages: OpenAI.ChatCompletionMessageParam[],
    tools: OpenAI.ChatCompletionTool[],
    deadline: number,
    outer?: AbortSignal,
  ): Promise<Conversed>;
};
/** `arguments`: JSON text as the model wrote it. */
export type Conversed = { text: string; calls: { name: string; arguments: string }[] };

const textPart = z.object({ text: z.string() }).transform(({ text }) => text);
/** The content of a reply as text. Some compatible endpoints send a list of parts. Anything else counts as no text. */
const replyText = z.union([z.string(), z.array(textPart.catch('')).transform((parts) => parts.join(''))]).catch('');
/** A function call. Some compatible endpoints send the arguments as an object, or as null when there are none. */
const functionCall = z
  .object({
    type: z.literal('function'),
    function: z.object({ name: z.string(), arguments: z.unknown().optional() }),
  })
  .transform(({ function: { name, arguments: given } }) => ({
    name,
    arguments: typeof given === 'string' ? given : JSON.stringify(given ?? {}),
  }));
/** The function calls of a reply. Entries that are no function call with a name are omitted. */
const functionCalls = z
  .array(z.unknown())
  .catch([])
  .transform((calls) => calls.flatMap((call) => functionCall.safeParse(call).data ?? []));

export function createCompletions({ timeoutMs, persist }: Endpoint, model: string): Completions {
  // Some compatible endpoints refuse `response_format`; then only the prompt asks for JSON.
  let takesFormat = true;

  const body = (messages: Message[], wanted: Format) => ({
    model,
    messages,
    temperature: 0,
    ...(takesFormat ? { response_format: wanted } : {}),
  });

  /** Runs a request. If the endpoint refuses `response_format`, repeats the request once without it. */
  async function withFormat<T>(call: () => Promise<T>): Promise<T> {
    // Another request may change `takesFormat` before this request fails, so the value that this request uses is kept.
    const sent = takesFormat;
    try {
      return await call();
    } catch (error) {
      if (!sent || !refusesFormat(error)) throw error;
      takesFormat = false;
      return call();
    }
  }

  async function complete(messages: Message[], wanted: Format, deadline: number, outer?: AbortSignal): Promise<string> {
    return persist(outer, deadline, async (api, signal) =>
      withFormat(async () => {
        const reply = await abortable(api.chat.completions.create(body(messages, wanted), { signal }), signal);
        countTokens(reply.usage);
        return replyText.parse(reply.choices?.[0]?.message?.content);
      }),
    );
  }

  async function* pieces(messages: Message[], wanted: Format, deadline: number, outer?: AbortSignal) {
    const idle = new AbortController();
    const signal = outer === undefined ? idle.signal : AbortSignal.any([outer, idle.signal]);
    const open = async (api: OpenAI, limit: AbortSignal) =>
      withFormat(async () =>
        abortable(api.chat.completions.create({ ...body(messages, wanted), stream: true }, { signal }), limit),
      );
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
        // The timer stops while a piece is consumed, because a slow consumer is not a slow endpoint.
        clearTimeout(timer);
        const piece = chunk.choices?.[0]?.delta?.content;
        length += piece?.length ?? 0;
        countTokens(chunk.usage);
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

  async function converse(
    messages: OpenAI.ChatCompletionMessageParam[],
    tools: OpenAI.ChatCompletionTool[],
    deadline: number,
    outer?: AbortSignal,
  ): Promise<Conversed> {
    const asked = { model, messages, temperature: 0, ...(tools.length === 0 ? {} : { tools }) };
    const reply = await persist(outer, deadline, async (api, signal) =>
      abortable(api.chat.completions.create(asked, { signal }), signal),
    );
    countTokens(reply.usage);
    const said = reply.choices?.[0]?.message;
    const text = replyText.parse(said?.content).slice(0, maxReplyLength);
    return { text, calls: functionCalls.parse(said?.tool_calls) };
  }

  return { complete, pieces, converse };
}

function countTokens(usage: OpenAI.CompletionUsage | null | undefined): void {
  if (!usage) return;
  count('model_tokens_total', { direction: 'read' }, usage.prompt_tokens);
  count('model_tokens_total', { direction: 'written' }, usage.completion_tokens);
}

const refusesFormat = (error: unknown): boolean =>
  error instanceof APIError &&
  [400, 422].includes(error.status ?? 0) &&
  /response_format|json_schema/iu.test(error.message);
