/**
 * Requests to an OpenAI-compatible endpoint. Requests are retried after failures that may be temporary, within a time
 * budget, and are aborted when the caller is gone.
 */
import { setTimeout } from 'node:timers/promises';
import type OpenAI from 'openai';
import { inSpan } from '../base/tracing.ts';
import { count, observe } from '../base/meter.ts';
import { failed, outcomeOf, retryDelay, type ModelKind } from './failures.ts';

export type EndpointOptions = {
  baseUrl?: string | undefined;
  apiKey?: string | undefined;
  timeoutMs: number;
  budgetMs: number;
  /** The kind of model that the endpoint is asked for; the language model by default. */
  asked?: ModelKind;
  sleep?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined;
};

export type Endpoint = {
  timeoutMs: number;
  budgetMs: number;
  /**
   * Makes a request, and retries it after temporary failures until `deadline` (ms since 1970). A permanent failure, or
   * the last temporary one, becomes a Problem. The caller's own abort is rethrown unchanged.
   */
  persist<T>(
    outer: AbortSignal | undefined,
    deadline: number,
    call: (api: OpenAI, signal: AbortSignal) => Promise<T>,
  ): Promise<T>;
};

const maxAttempts = 4;

export function createEndpoint({
  baseUrl,
  apiKey,
  timeoutMs,
  budgetMs,
  asked,
  sleep = (ms, signal) => setTimeout(ms, undefined, { signal }),
}: EndpointOptions): Endpoint {
  // The library is loaded only when an endpoint is configured, because it makes up an eighth of an API process's
  // modules. `persist` decides on retries and time limits, so the library retries nothing and its own limit is the
  // whole budget.
  const loading = import('openai').then(
    ({ OpenAI }) =>
      new OpenAI({
        apiKey: apiKey ?? 'none',
        baseURL: baseUrl ?? null,
        maxRetries: 0,
        timeout: budgetMs,
        logLevel: 'off',
      }),
  );
  // If the library cannot be loaded, each call fails, but not the process.
  loading.catch(() => undefined);
  return {
    timeoutMs,
    budgetMs,
    persist: (outer, deadline, call) =>
      inSpan('model call', { kind: 'client' }, async () => {
        for (let attempt = 1; ; attempt += 1) {
          const left = deadline - Date.now();
          const limit = AbortSignal.timeout(Math.max(1, Math.min(timeoutMs, left)));
          const began = performance.now();
          const measure = (outcome: string): void => {
            count('model_calls_total', { outcome });
            observe('model_call_seconds', {}, (performance.now() - began) / 1000);
          };
          try {
            const done = await call(await loading, outer === undefined ? limit : AbortSignal.any([outer, limit]));
            measure('ok');
            return done;
          } catch (error) {
            outer?.throwIfAborted();
            measure(outcomeOf(error));
            const wait = retryDelay(error, attempt);
            if (wait === undefined || attempt >= maxAttempts || Date.now() + wait >= deadline)
              throw failed(error, asked);
            await sleep(wait, outer ?? AbortSignal.timeout(budgetMs * 2)).catch((aborted: unknown) => {
              outer?.throwIfAborted();
              throw aborted;
            });
          }
        }
      }),
  };
}
