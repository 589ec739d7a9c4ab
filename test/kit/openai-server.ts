/**
 * A loopback server with the OpenAI protocol of compatible endpoints: chat completions (whole and streamed) and
 * embeddings. Tests script its failures and read its requests. The server shares no code with the product.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { json, serving } from './listening.ts';

export type ChatRequest = {
  model: string;
  messages: { role: string; content: string; tool_calls?: unknown[]; tool_call_id?: string }[];
  tools?: { type: 'function'; function: { name: string; description: string; parameters: unknown } }[];
  stream?: boolean;
  response_format?: unknown;
};
/** A reply that calls functions. Arguments are sent as JSON. If they are a string, it is sent unchanged. */
export type FunctionCalls = { calls: { name: string; arguments: unknown }[] };
type RecordedRequest = {
  path: string;
  authorization: string | undefined;
  body: ChatRequest & { input?: string[] };
};

/** What happens to the next request. Each script is used once. Without a script the server answers normally. */
export type Script =
  | { kind: 'reply'; content: string | FunctionCalls }
  /** HTTP 200 and this value as JSON, whatever its shape. */
  | { kind: 'body'; body: unknown }
  | { kind: 'status'; status: number; message?: string; headers?: Record<string, string> }
  /** Accepts the request and never answers. */
  | { kind: 'hang' }
  /** Streams this many characters of the content, then stalls. */
  | { kind: 'stall'; after: number }
  /** Streams this many characters of the content, then closes the connection. */
  | { kind: 'truncate'; after: number }
  /** At each pause: streams the content up to `after` characters, then waits until the promise `until` resolves. */
  | { kind: 'paced'; pauses: readonly { after: number; until: Promise<void> }[] }
  /** HTTP 200 and a body that is not JSON. */
  | { kind: 'garbage' };

export type OpenAiServer = {
  /** `http://127.0.0.1:PORT/v1` */
  baseUrl: string;
  requests: RecordedRequest[];
  script(...next: Script[]): void;
  /** The content of an unscripted chat reply. The default is a grounded answer from source 1. */
  reply: (request: ChatRequest) => string | FunctionCalls | Promise<string | FunctionCalls>;
  /** Resolves when the next request has been read. */
  next(): Promise<void>;
  /** Removes scripts and requests, and restores the default reply. */
  reset(): void;
  close(): Promise<void>;
};

/** The dimension of the vectors. */
const embeddingSize = 512;

/** Hashes words and their first letters into buckets, so that texts with common words or stems have close vectors. */
function hashEmbedding(text: string): number[] {
  const vector = Array.from({ length: embeddingSize }, () => 0);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    for (const [part, weight] of [
      [word, 1],
      [word.slice(0, 5), 0.7],
    ] as const) {
      let hash = 2_166_136_261;
      for (const character of part) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16_777_619) >>> 0;
      const at = ((hash ^ (hash >>> 15)) >>> 0) % embeddingSize;
      vector[at] = (vector[at] ?? 0) + weight;
    }
  }
  const norm = Math.hypot(...vector) || 1;
  return vector.map((value) => value / norm);
}

function completion(content: string | FunctionCalls): unknown {
  if (typeof content !== 'string') return calling(content);
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'test',
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content, refusal: null } }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
}

function calling({ calls }: FunctionCalls): unknown {
  const tool_calls = calls.map(({ name, arguments: given }, index) => ({
    id: `call_of_model_${index}`,
    type: 'function',
    function: { name, arguments: typeof given === 'string' ? given : JSON.stringify(given) },
  }));
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'test',
    choices: [{ index: 0, finish_reason: 'tool_calls', message: { role: 'assistant', content: null, tool_calls } }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
}

async function streamReply(response: ServerResponse, content: string, script: Script | undefined): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (delta: unknown, finish: string | null): void => {
    const chunk = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'test' };
    response.write(`data: ${JSON.stringify({ ...chunk, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
  };
  const shown = script?.kind === 'stall' || script?.kind === 'truncate' ? content.slice(0, script.after) : content;
  send({ role: 'assistant', content: '' }, null);
  const write = (text: string): void => {
    for (let at = 0; at < text.length; at += 7) send({ content: text.slice(at, at + 7) }, null);
  };
  let written = 0;
  for (const { after, until } of script?.kind === 'paced' ? script.pauses : []) {
    write(shown.slice(written, after));
    written = after;
    await until;
  }
  write(shown.slice(written));
  if (script?.kind === 'stall') return;
  if (script?.kind === 'truncate') {
    response.end();
    return;
  }
  send({}, 'stop');
  response.end('data: [DONE]\n\n');
}

/** Functions are only called in replies that are not streamed. */
function textIn(content: string | FunctionCalls): string {
  if (typeof content === 'string') return content;
  throw new Error('A streamed reply calls no functions.');
}

export async function startOpenAiServer(): Promise<OpenAiServer> {
  const scripts: Script[] = [];
  const requests: RecordedRequest[] = [];
  const waiting: (() => void)[] = [];
  const usual = (): string => JSON.stringify({ answered: true, sources: [1], answer: 'As the source says.' });
  const state: Pick<OpenAiServer, 'reply'> = { reply: usual };

  async function handle(request: IncomingMessage, response: ServerResponse, sent: string): Promise<void> {
    const path = request.url ?? '';
    const body = JSON.parse(sent) as RecordedRequest['body'];
    requests.push({ path, authorization: request.headers.authorization, body });
    for (const told of waiting.splice(0)) told();
    const script = scripts.shift();
    if (script?.kind === 'hang') return;
    if (script?.kind === 'status') {
      json(
        response,
        script.status,
        { error: { message: script.message ?? 'scripted', type: 'scripted', code: null, param: null } },
        script.headers,
      );
    } else if (script?.kind === 'body') {
      json(response, 200, script.body);
    } else if (script?.kind === 'garbage') {
      response.writeHead(200, { 'content-type': 'application/json' }).end('<html>not json');
    } else if (path === '/v1/chat/completions') {
      const content = script?.kind === 'reply' ? script.content : await state.reply(body);
      if (body.stream === true) await streamReply(response, textIn(content), script);
      else json(response, 200, completion(content));
    } else if (path === '/v1/embeddings') {
      const data = (body.input ?? []).map((text, index) => ({
        object: 'embedding',
        index,
        embedding: hashEmbedding(text),
      }));
      json(response, 200, {
        object: 'list',
        model: body.model,
        data: data.toReversed(),
        usage: { prompt_tokens: 1, total_tokens: 1 },
      });
    } else json(response, 404, { error: { message: 'no such route' } });
  }

  const { url, close } = await serving(handle);

  return Object.assign(state, {
    baseUrl: `${url}/v1`,
    requests,
    script: (...next: Script[]) => void scripts.push(...next),
    async next() {
      const { promise: arrived, resolve: told } = Promise.withResolvers<void>();
      waiting.push(told);
      await arrived;
    },
    reset() {
      scripts.length = 0;
      requests.length = 0;
      state.reply = usual;
    },
    close,
  });
}
