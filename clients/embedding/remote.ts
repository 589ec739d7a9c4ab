/**
 * Vectors from embedding services (service.ts) on other machines. Each call goes to one host. When that host refuses,
 * fails or is slow, the next host is asked too, and the first answer counts. So a hanging host delays a call only by
 * `nextAfterMs`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { EmbeddingFailed, TextRefused, type Embedder, type EmbedOptions } from './embedder.ts';
import { modelNames, models as allModels } from './vectors.ts';

/** Maximum number of texts that a service takes in one call. */
export const maxTexts = 256;
/**
 * The number of texts in one call. The number is far below `maxTexts`, because a service also refuses a call for which
 * its queue has no room. The queue of questions has room for 200 texts.
 */
const textsACall = 100;

/** The body of a call, sent as JSON. The answer is the vectors one after the other, as 32-bit floats, little-endian. */
export const vectorRequest = z.strictObject({
  pool: z.enum(['questions', 'passages']),
  texts: z
    .array(z.strictObject({ kind: z.enum(['question', 'passage']), text: z.string(), heading: z.string().optional() }))
    .min(1)
    .max(maxTexts),
  models: z.array(z.enum(modelNames as [(typeof modelNames)[number]])).min(1),
  patient: z.boolean(),
  /** How long the caller waits, in ms. */
  deadline_ms: z.number().positive().max(600_000),
});
type VectorRequest = z.infer<typeof vectorRequest>;
/** The queues of a service. Questions never wait behind passages. */
export type Pool = VectorRequest['pool'];

type RemoteOptions = {
  /** The base URLs of the services. */
  urls: readonly string[];
  pool: Pool;
  /** Time limit for one call to one host, in ms. */
  timeoutMs: number;
  /** After this time without an answer, in ms, the next host is asked too. */
  nextAfterMs: number;
  /** Called when no host has answered a call. */
  onFailure?: (failure: EmbeddingFailed) => void;
};

/** For this time after a failure, in ms, a host is asked only after all other hosts. */
const avoidedMs = 5_000;

export function createRemoteEmbedder({ urls, pool, timeoutMs, nextAfterMs, onFailure }: RemoteOptions): Embedder {
  const failedAt = new Map<string, number>();
  const closing = new AbortController();
  let turn = 0;

  /** All hosts, beginning with a different one each time; hosts that failed a moment ago come last. */
  function hosts(): string[] {
    turn += 1;
    const rotated = urls.map((_, at) => urls[(turn + at) % urls.length]!);
    const avoided = (url: string): boolean => performance.now() - (failedAt.get(url) ?? -Infinity) < avoidedMs;
    return [...rotated.filter((url) => !avoided(url)), ...rotated.filter(avoided)];
  }

  async function askHost(url: string, request: VectorRequest, signal: AbortSignal): Promise<Float32Array[]> {
    const width = request.models.reduce((sum, name) => sum + allModels[name].dimensions, 0);
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    try {
      const reply = await fetch(new URL('/v1/vectors', url), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(request),
        signal: limit,
      });
      if (reply.status === 422) throw new TextRefused(await reply.text());
      if (reply.status !== 200) throw new EmbeddingFailed(`${url} answered ${reply.status}: ${await reply.text()}`);
      const bytes = await reply.arrayBuffer();
      if (bytes.byteLength !== request.texts.length * width * 4)
        throw new EmbeddingFailed(`${url} answered ${bytes.byteLength} bytes for ${request.texts.length} texts.`);
      failedAt.delete(url);
      return request.texts.map((_, at) => new Float32Array(bytes, at * width * 4, width));
    } catch (error) {
      if (error instanceof TextRefused) throw error;
      // When another host has answered, or the caller has given up, this call is aborted; that is no failure of this
      // host.
      if (!signal.aborted) failedAt.set(url, performance.now());
      throw error instanceof EmbeddingFailed
        ? error
        : new EmbeddingFailed(`${url} does not answer: ${(error as Error).message}`, { cause: error });
    }
  }

  async function askInTurn(request: VectorRequest, signal: AbortSignal | undefined): Promise<Float32Array[]> {
    const done = new AbortController();
    const stop = AbortSignal.any([done.signal, closing.signal, ...(signal === undefined ? [] : [signal])]);
    const asked: Promise<Float32Array[]>[] = [];
    try {
      for (const url of hosts()) {
        const answer = askHost(url, request, stop);
        answer.catch(() => undefined);
        asked.push(answer);
        const given = await Promise.race([
          Promise.any(asked).catch(() => undefined),
          sleep(nextAfterMs, undefined, { signal: stop }).catch(() => undefined),
        ]);
        if (given !== undefined) return given;
        if (stop.aborted) break;
      }
      return await Promise.any(asked);
    } catch (error) {
      signal?.throwIfAborted();
      const { errors } = error as AggregateError;
      // A host that refuses the text has answered: the models are there.
      const refused = errors.find((each) => each instanceof TextRefused);
      if (refused === undefined && !closing.signal.aborted) onFailure?.(errors[0]);
      throw refused ?? errors[0];
    } finally {
      done.abort();
    }
  }

  return {
    embed: async (texts, { models = modelNames, signal, patient = false }: EmbedOptions = {}) => {
      signal?.throwIfAborted();
      const vectors: Float32Array[] = [];
      // The calls run one after the other, so that one caller does not fill the queue of a service.
      for (let from = 0; from < texts.length; from += textsACall) {
        const some = texts.slice(from, from + textsACall);
        const request = { pool, texts: some, models: [...models], patient, deadline_ms: timeoutMs };
        vectors.push(...(await askInTurn(request, signal)));
      }
      return vectors;
    },
    pid: () => undefined,
    close: async () => closing.abort(),
  };
}
