/** An OpenAI-compatible endpoint, as it is configured: for a language model, for an embedding model, or for both. */
export type AiOptions = {
  /** `…/v1`; the library's own default when only a key is given. */
  baseUrl?: string | undefined;
  apiKey?: string | undefined;
  model?: string | undefined;
  embeddingModel?: string | undefined;
  /** The time for one attempt to answer completely or, while streaming, for the next piece to arrive. */
  timeoutMs?: number | undefined;
  /** The time for everything that one call does, including waiting for `Retry-After`. Default: twice `timeoutMs`. */
  budgetMs?: number | undefined;
  /** Milliseconds since some moment, to measure pauses. */
  now?: (() => number) | undefined;
  /** Resolves after this many milliseconds, rejects when aborted. Tests replace it so that they need not wait. */
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
};
