/**
 * Hashes and checks passwords (argon2id). Each hash takes 19 MiB and CPU time, so the queue is bounded and further
 * requests are refused.
 */
import * as argon2 from '@node-rs/argon2';
import pLimit from 'p-limit';
import { Problem } from '../../models/rules/base/errors.ts';

/**
 * The cost of a hash that the OWASP Password Storage Cheat Sheet recommends for argon2id: 19 MiB, two passes, one lane.
 */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
/** Hashes use two of libuv's four threads, so that file reads and DNS look-ups are not blocked. */
const hashesAtOnce = 2;
/** The most hashes that wait. At about 30 ms a hash, the last one in the queue waits for about three seconds. */
const mostWaiting = 200;

export type Passwords = {
  /** Returns a PHC string with its own salt. */
  hash(password: string): Promise<string>;
  /** Takes the same time when there is no stored hash, so that timing does not reveal which e-mails have an account. */
  verify(stored: string | undefined, password: string): Promise<boolean>;
};

export function createPasswords({ hash, verify }: Pick<typeof argon2, 'hash' | 'verify'> = argon2): Passwords {
  const inTurn = createGate(hashesAtOnce, mostWaiting);
  let dummy: Promise<string> | undefined;
  return {
    hash: (password) => inTurn(() => hash(plain(password), cost)),
    async verify(stored, password) {
      dummy ??= hash('nobody has this password', cost);
      const against = stored ?? (await dummy);
      const matches = await inTurn(() => verify(against, plain(password)));
      return matches && stored !== undefined;
    },
  };
}

/** Different keyboards encode the same characters differently, so passwords are normalized first (RFC 8265). */
const plain = (password: string) => password.normalize('NFKC');

/**
 * Returns a function that runs at most `atOnce` calls of `work` at a time and lets `maxWaiting` more wait.
 * @throws Problem UNAVAILABLE for further calls.
 */
export function createGate(atOnce: number, maxWaiting: number): <T>(work: () => Promise<T>) => Promise<T> {
  const limit = pLimit(atOnce);
  return async (work) => {
    if (limit.pendingCount >= maxWaiting) {
      throw new Problem('UNAVAILABLE', {
        message: 'Too many people are signing in right now; try again.',
        headers: { 'Retry-After': '3' },
      });
    }
    return limit(work);
  };
}
