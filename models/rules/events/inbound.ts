/**
 * What arrives from other services: the providers, the states of a record, when a failed one is tried again, and the work
 * that is started for it. Pure.
 */

export const inboundProviders = ['linear', 'github', 'slack', 'teams', 'email'] as const;
export type InboundProvider = (typeof inboundProviders)[number];

/**
 * `stored`: still to be processed. `processed`: it changed something. `ignored`: nothing was to be done; the reason says
 * why. `failed`: it was tried as often as it is tried.
 */
export const inboundStatuses = ['stored', 'processed', 'ignored', 'failed'] as const;
export type InboundStatus = (typeof inboundStatuses)[number];

/** A record is kept this long after it arrived, in days: people look for what went wrong within weeks. */
const inboundDays = 30;
export const inboundKeptUntil = (now: Date): Date => new Date(now.getTime() + inboundDays * 86_400_000);

/** How far from now the time in a signed request may lie, in either direction, in ms. */
const signatureWindowMs = 5 * 60_000;
export const withinWindow = (at: number, now: Date): boolean =>
  Number.isFinite(at) && Math.abs(now.getTime() - at) <= signatureWindowMs;

const second = 1_000;
const minute = 60 * second;
/** Waits after the first, second, … failed attempt, in ms; there is none after the last one. Some two hours in all. */
const waits: readonly number[] = [second, 5 * second, 30 * second, 2 * minute, 10 * minute, 30 * minute, 60 * minute];
/** How long to wait after this many attempts, in ms; undefined when no further one follows. */
export const inboundWaitMs = (attempts: number): number | undefined => waits[attempts - 1];

/** An attempt that takes longer has failed, in ms: an answer that a slow model writes takes less. */
export const inboundAttemptMs = 90 * second;
/** After so long a record is settled, in ms, whatever became of its attempts. */
export const inboundTriedForMs = waits.reduce((sum, wait) => sum + wait + inboundAttemptMs, inboundAttemptMs);

/**
 * What concerns the deployment and no organization, such as the confirmation of a subscription, is processed like what concerns
 * one; no organization has this id.
 */
export const deploymentOwner = { orgId: 'deployment', mode: 'live' } as const;
