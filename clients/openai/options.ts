/** The configuration of an OpenAI-compatible endpoint: for a language model, for an embedding model, or for both. */
export type AiOptions = {
  /** The URL up to `/v1`. When only a key is given, the OpenAI library's default URL is used. */
  baseUrl?: string | undefined;
  apiKey?: string | undefined;
  model?: string | undefined;
  embeddingModel?: string | undefined;
  /** Time limit of one attempt for the complete answer or, when streaming, for the next piece. */
  timeoutMs?: number | undefined;
  /** Time limit for a whole call, including retries and waits for `Retry-After`. Default: twice `timeoutMs`. */
  budgetMs?: number | undefined;
  /** A monotonic clock in ms, to measure pauses. */
  now?: (() => number) | undefined;
  /** Resolves after this many milliseconds, rejects when aborted. Tests replace it so that they need not wait. */
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
};
