/** API keys: their prefixes, modes, scopes and status. Pure. */
import { Problem } from '../base/errors.ts';

export const modes = ['test', 'live'] as const;
/** The mode of a record or a credential. Data of test and live mode never mix. */
export type Mode = (typeof modes)[number];

export const environments = ['sandbox', 'production'] as const;
/** The environment of an organization: `production` once it has gone live, `sandbox` before. */
export type Environment = (typeof environments)[number];

export const scopes = ['mcp:read', 'mcp:write', 'support:read', 'support:write', 'sessions:mint'] as const;
export type Scope = (typeof scopes)[number];

/** The scopes of a new key when none are given (spec 5.2). */
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

/** Splits a key into its prefix and secret part; undefined when the token has no known prefix. */
export function splitToken(
  token: string,
): { prefix: string; secret: string; kind: KeyPrefix['kind']; mode: KeyPrefix['mode'] } | undefined {
  const hit = prefixes.find(([prefix]) => token.startsWith(prefix));
  return hit && { prefix: hit[0], secret: token.slice(hit[0].length), ...hit[1] };
}

export function tokenPrefix(kind: KeyPrefix['kind'], mode: KeyPrefix['mode']): string {
  return prefixes.find(([, p]) => p.kind === kind && p.mode === mode)![0];
}

/**
 * The mode in which a key acts (spec 5.2, rules 1 and 3). A live key of an organization that is not live acts in test
 * mode, with a warning (`downgraded`). The prefix of a legacy key has no mode, so the key acts in the mode of the
 * organization.
 */
export function effectiveMode(key: KeyPrefix['mode'], environment: Environment): { mode: Mode; downgraded: boolean } {
  if (key === 'legacy') return { mode: environment === 'production' ? 'live' : 'test', downgraded: false };
  const downgraded = key === 'live' && environment !== 'production';
  return { mode: downgraded ? 'test' : key, downgraded };
}

/** The status of a key at a moment. `revoked` takes precedence over `expired`. */
export function keyStatus(key: { revoked_at?: Date | null; expires_at?: Date | null }, now: Date): KeyStatus {
  if (key.revoked_at) return 'revoked';
  return key.expires_at && key.expires_at <= now ? 'expired' : 'active';
}

/**
 * The `environment` of a key in the API (spec 2.9): the mode in its prefix. A legacy key has no mode in its prefix, so
 * its mode follows from the organization's environment.
 */
export function keyEnvironment(key: KeyPrefix['mode'], environment: Environment): Mode {
  return key === 'legacy' ? effectiveMode(key, environment).mode : key;
}

/**
 * The visible beginning of a key, by which people recognise it: the prefix and the first 4 of the 32 random characters.
 */
export function tokenStart(token: string): string {
  return token.slice(0, (splitToken(token)?.prefix.length ?? 0) + 4);
}

/**
 * When a rotated key stops working: after `overlapSeconds`, or at its own expiry if that comes first.
 * @throws Problem KEY_REVOKED; CONFLICT when the key has expired or was rotated before.
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
