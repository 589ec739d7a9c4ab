/** What a key may do and which mode it belongs to: prefixes, scopes, modes. Pure. */
import { Problem } from '../base/errors.ts';

export const modes = ['test', 'live'] as const;
/** The mode of a record or a credential; test and live never mix. */
export type Mode = (typeof modes)[number];

export const environments = ['sandbox', 'production'] as const;
/** Whether an organization has gone live. */
export type Environment = (typeof environments)[number];

export const scopes = ['mcp:read', 'mcp:write', 'support:read', 'support:write', 'sessions:mint'] as const;
export type Scope = (typeof scopes)[number];

/** Spec 5.2: the scopes of a new key when its creator names none. */
export const defaultScopes: readonly Scope[] = ['mcp:read', 'mcp:write'];
export const defaultMode: Mode = 'test';

export const keyStatuses = ['active', 'expired', 'revoked'] as const;
export type KeyStatus = (typeof keyStatuses)[number];

export type KeyPrefix = { kind: 'secret' | 'publishable'; mode: Mode | 'legacy' };

const prefixes: readonly (readonly [string, KeyPrefix])[] = [
  ['svc_sk_test_', { kind: 'secret', mode: 'test' }],
  ['svc_sk_live_', { kind: 'secret', mode: 'live' }],
  ['svc_pk_test_', { kind: 'publishable', mode: 'test' }],
  ['svc_pk_live_', { kind: 'publishable', mode: 'live' }],
  ['svc_sk_', { kind: 'secret', mode: 'legacy' }],
];

/** Splits a token into its prefix and the rest; undefined when it has no prefix of our keys. */
export function splitToken(
  token: string,
): { prefix: string; secret: string; kind: KeyPrefix['kind']; mode: KeyPrefix['mode'] } | undefined {
  const hit = prefixes.find(([prefix]) => token.startsWith(prefix));
  return hit && { prefix: hit[0], secret: token.slice(hit[0].length), ...hit[1] };
}

/** `svc_sk_live_` and the other prefixes. */
export function tokenPrefix(kind: KeyPrefix['kind'], mode: KeyPrefix['mode']): string {
  return prefixes.find(([, p]) => p.kind === kind && p.mode === mode)![0];
}

/**
 * Spec 5.2 rules 1 and 3: the key decides the mode; a live key of an organization that is not live acts as test,
 * with a warning; a legacy key follows the organization.
 */
export function effectiveMode(key: KeyPrefix['mode'], environment: Environment): { mode: Mode; downgraded: boolean } {
  if (key === 'legacy') return { mode: environment === 'production' ? 'live' : 'test', downgraded: false };
  const downgraded = key === 'live' && environment !== 'production';
  return { mode: downgraded ? 'test' : key, downgraded };
}

/** A key's status at a moment. A key that is both revoked and expired is `revoked`. */
export function keyStatus(key: { revoked_at?: Date | null; expires_at?: Date | null }, now: Date): KeyStatus {
  if (key.revoked_at) return 'revoked';
  return key.expires_at && key.expires_at <= now ? 'expired' : 'active';
}

/** Spec 2.9, `environment` of a key: the mode in its prefix; a legacy key's follows the organization. */
export function keyEnvironment(key: KeyPrefix['mode'], environment: Environment): Mode {
  return key === 'legacy' ? effectiveMode(key, environment).mode : key;
}

/** The part of a token that stays readable, so that people recognise the key: its prefix and four characters of 32. */
export function tokenStart(token: string): string {
  return token.slice(0, (splitToken(token)?.prefix.length ?? 0) + 4);
}

/**
 * When a key that is rotated now stops working: after the overlap, or at its own end if that comes first.
 * @throws Problem KEY_REVOKED; CONFLICT when it has expired or was rotated before.
 */
export function rotationEnd(
  key: { revoked_at?: Date | null; expires_at?: Date | null; rotated_to?: string | null },
  overlapSeconds: number,
  now: Date,
): Date {
  const status = keyStatus(key, now);
  if (status === 'revoked') throw new Problem('KEY_REVOKED');
  if (key.rotated_to)
    throw new Problem('CONFLICT', { message: `This key was rotated already; its successor is ${key.rotated_to}.` });
  if (status === 'expired') throw new Problem('CONFLICT', { message: 'This key has expired; create a new one.' });
  const ends = now.getTime() + overlapSeconds * 1000;
  return new Date(Math.min(ends, key.expires_at?.getTime() ?? ends));
}
