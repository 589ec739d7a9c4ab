/**
 * Counts failed sign-ins. A point is taken before the password is checked, so that guesses sent in parallel cannot pass
 * uncounted, and given back when the sign-in succeeds.
 */
import { createHash } from 'node:crypto';
import { networkOf } from './address.ts';
import { consume, createRate } from './limits.ts';
import type { Config } from '../../config.ts';

export type Attempts = <T>(
  who: { email: string; address: string },
  check: () => Promise<T | undefined>,
) => Promise<T | undefined>;
type Hold = { refund(): Promise<unknown> };

/**
 * Runs `check`, which returns nothing for a failure. Failures are counted per account and address (`sign_in`) and per
 * address over all accounts (`accounts`), so that trying one password on every account is bounded too.
 * The answer throws `RATE_LIMITED` with `Retry-After` when either is used up.
 */
export function createAttempts(config: Config): Attempts {
  const hold = (name: 'sign_in' | 'accounts') => {
    const rate = createRate(config, name, { refundable: true });
    return async (key: string): Promise<Hold> => {
      const refund = () => rate.reward(key);
      await consume(rate, config, name, key).catch(async (error: unknown) => {
        // No password was checked for a refused attempt, so it is not counted as a failure.
        if (error instanceof Error && 'code' in error && error.code === 'RATE_LIMITED') await refund();
        throw error;
      });
      return { refund };
    };
  };
  const holdAccount = hold('sign_in');
  const holdAddress = hold('accounts');

  return async ({ email, address }, check) => {
    const network = networkOf(address);
    const account = createHash('sha256')
      .update(JSON.stringify([email, network]))
      .digest('hex');
    const holds: Hold[] = [];
    let failed = false;
    try {
      holds.push(await holdAccount(`account:${account}`));
      holds.push(await holdAddress(`failures:${network}`));
      const found = await check();
      failed = found === undefined;
      return found;
    } finally {
      if (!failed) await Promise.all(holds.map(({ refund }) => refund()));
    }
  };
}
