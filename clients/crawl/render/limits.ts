/** The limits of rendering one page. */
export type TabLimits = {
  /** The time for the whole page, ms. */
  timeoutMs: number;
  /** After this long, ms, a page that still sends requests is taken as it is. */
  settleMs: number;
  /** A page counts as settled when it has had no open request for this long, ms. */
  idleMs: number;
  /** Bytes of one reply, of all replies together, and of the resulting document. */
  replyBytes: number;
  totalBytes: number;
  htmlBytes: number;
  requests: number;
};

export const defaultTabLimits: Readonly<TabLimits> = Object.freeze({
  timeoutMs: 15_000,
  settleMs: 10_000,
  idleMs: 500,
  replyBytes: 5 * 1024 * 1024,
  totalBytes: 25 * 1024 * 1024,
  htmlBytes: 5 * 1024 * 1024,
  requests: 100,
});
