/** Interprets failures of an endpoint: whether and when to retry, and what to tell callers. */
import { APIConnectionTimeoutError, APIError, APIUserAbortError } from 'openai/core/error';
import { Problem } from '../../models/rules/base/errors.ts';

/** Whether the endpoint rejected this particular request; other requests may still succeed. */
export function isRefusal(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof APIError && cause.status !== undefined && cause.status < 500 && cause.status !== 429;
}

/** Whether the endpoint did not reply at all: a timeout, or no connection. */
export function isSilence(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return isTimeout(cause) || (cause instanceof APIError && cause.status === undefined);
}

/** How long to wait before a retry, in ms; undefined when a retry will not help. */
export function retryDelay(error: unknown, attempt: number): number | undefined {
  const backoff = 250 * 2 ** (attempt - 1) * (1 + Math.random() / 4);
  // A request that timed out is not retried, because the caller has waited long enough.
  if (error instanceof APIConnectionTimeoutError || error instanceof APIUserAbortError || isTimeout(error))
    return undefined;
  if (!(error instanceof APIError)) return undefined;
  if (error.status === undefined) return backoff;
  if (error.status !== 429 && error.status !== 409 && error.status < 500) return undefined;
  return retryAfter(error) ?? backoff;
}

/** The wait in `Retry-After` (or the finer `retry-after-ms`), in ms. */
function retryAfter(error: APIError): number | undefined {
  const { headers } = error;
  const fine = Number(headers?.get('retry-after-ms') ?? Number.NaN);
  if (Number.isFinite(fine) && fine >= 0) return fine;
  const value = headers?.get('retry-after');
  if (value === null || value === undefined) return undefined;
  const ms = /^\d+(?:\.\d+)?$/u.test(value.trim()) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

/**
 * How a request ended. `limited`: too many requests. `refused`: the request is at fault. `failed`: the endpoint is at
 * fault.
 */
export function outcomeOf(error: unknown): 'timeout' | 'limited' | 'refused' | 'failed' {
  if (error instanceof APIConnectionTimeoutError || isTimeout(error)) return 'timeout';
  const status = error instanceof APIError ? error.status : undefined;
  if (status === 429) return 'limited';
  return status !== undefined && status < 500 ? 'refused' : 'failed';
}

const isTimeout = (error: unknown): boolean =>
  ['TimeoutError', 'AbortError'].includes(String((error as { name?: unknown } | null)?.name));

/** The kinds of models that an endpoint is asked for, as error messages name them. */
export type ModelKind = 'language model' | 'embedding model (OPENAI_EMBEDDING_MODEL)';

/**
 * The Problem for callers. It tells how the endpoint failed, but never quotes the endpoint, whose text may contain
 * confidential data.
 */
export function failed(error: unknown, model: ModelKind = 'language model'): Problem {
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
  return new Problem('MODEL_FAILED', { message: `The configured ${model} ${why}`, cause: error, headers });
}
