/** The limits of one page that is rendered. */
export type TabLimits = {
  /** The whole page, ms. */
  timeoutMs: number;
  /** A page that keeps asking for more is taken as it is after this long, ms. */
  settleMs: number;
  /** No request under way for this long, ms, and the page counts as settled. */
  idleMs: number;
  /** Bytes of one reply, of all replies, and of the document taken. */
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
