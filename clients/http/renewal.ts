/**
 * Renews expiring credentials. Of all processes that need the renewal only one does it, because a refresh token works
 * once.
 */
import { setTimeout } from 'node:timers/promises';

export type Renewals<C> = {
  /** The present credential; undefined when there is none that can be renewed. */
  read(): Promise<C | undefined>;
  isGood(standing: C): boolean;
  /** Whether this process may renew it now; false while another one does. A claim expires after a while. */
  claim(): Promise<boolean>;
  end(): Promise<void>;
  /** Renews the credential and stores the result. It takes less time than a claim lasts. */
  renew(standing: C): Promise<void>;
  /** How long to wait for another process that renews it, in ms; 15 s by default. */
  patienceMs?: number;
  /** The error after that. */
  late(): Error;
};

/** The time that another process may take for a renewal, in ms. */
const usualPatienceMs = 15_000;
/** How often to check whether another process has renewed it. */
const lookEveryMs = 100;

/** Makes sure that a valid credential is stored. Returns false when there is none that can be renewed. */
export async function renewed<C>(renewals: Renewals<C>): Promise<boolean> {
  const { read, isGood, claim, end, renew, patienceMs = usualPatienceMs, late } = renewals;
  for (let waitedMs = 0; ; waitedMs += lookEveryMs) {
    const seen = await read();
    if (seen === undefined) return false;
    if (isGood(seen)) return true;
    if (await claim()) {
      try {
        // Another process may have renewed it between the read and the claim.
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
