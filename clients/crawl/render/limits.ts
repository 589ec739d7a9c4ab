export type TabLimits = {
  /** Time limit for the whole page, in ms. */
  timeoutMs: number;
  /** After this time, in ms, the document of a page that still sends requests is taken as it is. */
  settleMs: number;
  /** A page is settled when it has had no open request for this long, in ms. */
  idleMs: number;
  /** Maximum bytes of one reply, of all replies together, and of the resulting document. */
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
