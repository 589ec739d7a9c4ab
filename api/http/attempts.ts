/**
 * Limits failed sign-ins. Each attempt takes a point from the rate limits before its password is checked, so that
 * parallel guesses are all counted. A successful sign-in gets its points back.
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
 * Creates the function that runs `check`, which returns undefined for a failed sign-in. Failures are counted per
 * account and network (`sign_in`), and per network over all accounts (`accounts`). The second limit bounds trying one
 * password on many accounts.
 * @throws Problem RATE_LIMITED with `Retry-After` when either limit is used up.
 */
export function createAttempts(config: Config): Attempts {
  const hold = (name: 'sign_in' | 'accounts') => {
    const rate = createRate(config, name, { refundable: true });
    return async (key: string): Promise<Hold> => {
      const refund = () => rate.reward(key);
      await consume(rate, config, name, key).catch(async (error: unknown) => {
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
