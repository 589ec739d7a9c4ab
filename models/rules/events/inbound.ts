/**
 * Inbound records (webhooks and mails from other services): their providers and states, the time limits and retries of
 * processing, and the parts that are processed at the same time. Pure.
 */

export const inboundProviders = ['linear', 'github', 'slack', 'teams', 'email'] as const;
export type InboundProvider = (typeof inboundProviders)[number];

/**
 * `stored`: still to be processed. `processed`: the record changed something. `ignored`: the record changed nothing,
 * for the stored reason. `failed`: all attempts failed.
 */
export const inboundStatuses = ['stored', 'processed', 'ignored', 'failed'] as const;
export type InboundStatus = (typeof inboundStatuses)[number];

/**
 * The maximum difference between the time in a signed request and now, in ms, in either direction. It keeps an old
 * request from being replayed.
 */
const signatureWindowMs = 5 * 60_000;
export const withinWindow = (at: number, now: Date): boolean =>
  Number.isFinite(at) && Math.abs(now.getTime() - at) <= signatureWindowMs;

const second = 1_000;
const minute = 60 * second;
/**
 * The backoff after each failed attempt, in ms: about two hours in all. A record has one attempt more than there are
 * waits.
 */
const waits: readonly number[] = [second, 5 * second, 30 * second, 2 * minute, 10 * minute, 30 * minute, 60 * minute];
/** The wait after this many failed attempts, in ms; undefined when no retry follows. */
export const inboundWaitMs = (attempts: number): number | undefined => waits[attempts - 1];

/**
 * Each lane of an organization (such as an issue or a thread) belongs to one of these parts. When one worker does not
 * keep up with a burst of records, the parts are processed at the same time, each by another worker.
 */
export const inboundParts = [0, 1, 2, 3] as const;

/** The timeout of an attempt, in ms; longer than a slow model needs for an answer. */
export const inboundAttemptMs = 90 * second;
/** The time after which all attempts of a record have ended, in ms. */
export const inboundTriedForMs = waits.reduce((sum, wait) => sum + wait + inboundAttemptMs, inboundAttemptMs);

/**
 * The owner of records that concern the whole deployment, such as the confirmation of a subscription. They are
 * processed like the records of an organization. No organization has this id.
 */
export const deploymentOwner = { orgId: 'deployment', mode: 'live' } as const;
