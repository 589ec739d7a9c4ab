/**
 * Logins of operators, signed with the deployment's secret key: a link for a browser, and the session that the link
 * begins.
 */
import type { SecretBox } from './secretbox.ts';

/**
 * How long a link of `ops login` is valid (`linkMs`), and how long the session that the link begins is valid
 * (`sessionMs`), in ms.
 */
export const linkMs: number = 5 * 60_000;
export const sessionMs: number = 12 * 3_600_000;

type Use = 'link' | 'session';
type Keys = Pick<SecretBox, 'sign' | 'verify'>;

/** A signed login that is valid until the given time: the time in ms, `~` and the signature. */
export const loginOf = (secrets: Keys, use: Use, until: Date): string =>
  `${until.getTime()}~${secrets.sign(`operator ${use}`, String(until.getTime()))}`;

const isValid = (secrets: Keys, use: Use, proof: string, now: Date): boolean => {
  const [until = '', signature = ''] = proof.split('~');
  return Number(until) > now.getTime() && secrets.verify(`operator ${use}`, until, signature) === true;
};

export const readLogin = (secrets: Keys, proof: string, now: Date): boolean => isValid(secrets, 'link', proof, now);
export const isOperator = (secrets: Keys, proof: string | undefined, now: Date): boolean =>
  proof !== undefined && isValid(secrets, 'session', proof, now);
