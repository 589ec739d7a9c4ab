/** Credentials that end by themselves, renewed by one of all processes that learn of it: what renews them serves once. */
import { setTimeout } from 'node:timers/promises';

export type Renewals<C> = {
  /** The credential that stands; undefined when there is none that can be renewed. */
  read(): Promise<C | undefined>;
  isGood(standing: C): boolean;
  /** Whether this process may renew it now; false while another one does. A claim ends by itself in a while. */
  claim(): Promise<boolean>;
  end(): Promise<void>;
  /** Renews this one, and stores what it became. It takes no longer than a claim lasts. */
  renew(standing: C): Promise<void>;
  /** How long to wait for another process that renews it, in ms; a usual renewal's time where it is missing. */
  patienceMs?: number;
  /** The failure after that. */
  late(): Error;
};

/** How long another process may take to renew one, in ms, before who waits for it gives up. */
const usualPatienceMs = 15_000;
/** How often it is looked whether another process has renewed it. */
const lookEveryMs = 100;

/** Has a good credential stand. False: there is none that can be renewed. */
export async function renewed<C>(renewals: Renewals<C>): Promise<boolean> {
  const { read, isGood, claim, end, renew, patienceMs = usualPatienceMs, late } = renewals;
  for (let waitedMs = 0; ; waitedMs += lookEveryMs) {
    const seen = await read();
    if (seen === undefined) return false;
    if (isGood(seen)) return true;
    if (await claim()) {
      try {
        // Another process may have renewed it between the look and the claim.
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
