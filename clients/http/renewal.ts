/**
 * Refreshes expiring credentials. Only one process at a time refreshes a credential, because a refresh token works
 * once.
 */
import { setTimeout } from 'node:timers/promises';

export type Renewals<C> = {
  /** The current credential; undefined when there is none that can be refreshed. */
  read(): Promise<C | undefined>;
  isGood(standing: C): boolean;
  /**
   * Claims the refresh for this process. Returns false while another process holds the claim. A claim expires after a
   * while, so that a process that has crashed does not hold it forever.
   */
  claim(): Promise<boolean>;
  end(): Promise<void>;
  /** Refreshes the credential and stores it. This must take less time than a claim lasts. */
  renew(standing: C): Promise<void>;
  /** How long to wait for another process's refresh, in ms; 15 s by default. */
  patienceMs?: number;
  /** The error to throw when `patienceMs` has passed without a valid credential. */
  late(): Error;
};

const usualPatienceMs = 15_000;
/** How often to check whether another process has refreshed the credential, in ms. */
const lookEveryMs = 100;

/** Makes sure that a valid credential is stored. Returns false when there is none that can be refreshed. */
export async function renewed<C>(renewals: Renewals<C>): Promise<boolean> {
  const { read, isGood, claim, end, renew, patienceMs = usualPatienceMs, late } = renewals;
  for (let waitedMs = 0; ; waitedMs += lookEveryMs) {
    const seen = await read();
    if (seen === undefined) return false;
    if (isGood(seen)) return true;
    if (await claim()) {
      try {
        // The credential is read again, because another process may have refreshed it between the first read and the
        // claim.
        const standing = await read();
        if (standing === undefined) return false;
        if (!isGood(standing)) await renew(standing);
        return true;
      } finally {
        await end();
      }
    }
    if (waitedMs >= patienceMs) throw late();
    await setTimeout(lookEveryMs);
  }
}
