import { describe, it, expect } from '@jest/globals';
import {
  effectiveMode,
  keyEnvironment,
  keyStatus,
  rotationEnd,
  splitToken,
  tokenPrefix,
  tokenStart,
  type Environment,
  type KeyPrefix,
  type Mode,
} from '../../../models/rules/access/keys.ts';

const now = new Date('2026-06-01T12:00:00.000Z');
const before = new Date(now.getTime() - 1);
const after = new Date(now.getTime() + 1);

describe('splitToken', () => {
  it.each<[string, KeyPrefix['kind'], KeyPrefix['mode'], string]>([
    ['svc_sk_test_abc', 'secret', 'test', 'svc_sk_test_'],
    ['svc_sk_live_abc', 'secret', 'live', 'svc_sk_live_'],
    ['svc_pk_test_abc', 'publishable', 'test', 'svc_pk_test_'],
    ['svc_pk_live_abc', 'publishable', 'live', 'svc_pk_live_'],
    ['svc_sk_abc', 'secret', 'legacy', 'svc_sk_'],
  ])('the prefix of token %s says that it is a %s key of mode %s', (token, kind, mode, prefix) => {
    expect(splitToken(token)).toEqual({ kind, mode, prefix, secret: 'abc' });
    expect(tokenPrefix(kind, mode)).toBe(prefix);
    expect(tokenStart(`${prefix}abcdefgh`)).toBe(`${prefix}abcd`);
  });

  it.each([
    '',
    'svc_',
    'svc_pk_abc',
    'SVC_SK_TEST_abc',
    'sk_test_abc',
    ' svc_sk_test_abc',
    'eyJhbGciOiJFZERTQSJ9.e30.x',
  ])('splitToken does not accept %j as a key of this service', (token) => {
    expect(splitToken(token)).toBeUndefined();
  });
});

describe('effectiveMode: prefix × environment', () => {
  it.each<[KeyPrefix['mode'], Environment, Mode, boolean, Mode]>([
    // Columns: prefix, environment, the mode in which the key acts, whether it is a downgrade, its `environment` field.
    ['test', 'sandbox', 'test', false, 'test'],
    ['test', 'production', 'test', false, 'test'],
    ['live', 'sandbox', 'test', true, 'live'],
    ['live', 'production', 'live', false, 'live'],
    ['legacy', 'sandbox', 'test', false, 'test'],
    ['legacy', 'production', 'live', false, 'live'],
  ])(
    'a key with prefix %s in the %s environment acts in mode %s (downgraded: %s) and shows environment %s',
    (prefix, environment, mode, downgraded, shown) => {
      expect(effectiveMode(prefix, environment)).toEqual({ mode, downgraded });
      expect(keyEnvironment(prefix, environment)).toBe(shown);
    },
  );
});

describe('keyStatus: revoked × expiry', () => {
  it.each([
    [null, null, 'active'],
    [null, after, 'active'],
    [null, now, 'expired'],
    [null, before, 'expired'],
    [before, null, 'revoked'],
    [before, after, 'revoked'],
    [before, before, 'revoked'],
  ])('a key with revoked_at %p and expires_at %p is %s', (revoked_at, expires_at, status) => {
    expect(keyStatus({ revoked_at, expires_at }, now)).toBe(status);
  });
});

describe('rotationEnd', () => {
  it('a rotation without an overlap ends the old key at once', () => {
    const ends = rotationEnd({}, 0, now);
    expect(ends).toEqual(now);
    expect(keyStatus({ expires_at: ends }, now)).toBe('expired');
  });

  it('a rotation with an overlap ends the old key after the overlap', () => {
    expect(rotationEnd({}, 60, now)).toEqual(new Date(now.getTime() + 60_000));
  });

  it('a rotation never extends the lifetime of the old key', () => {
    expect(rotationEnd({ expires_at: after }, 60, now)).toEqual(after);
  });

  it.each([
    ['revoked', { revoked_at: before }, 'KEY_REVOKED'],
    ['revoked and rotated', { revoked_at: before, rotated_to: 'key_2' }, 'KEY_REVOKED'],
    ['expired', { expires_at: now }, 'CONFLICT'],
    ['rotated before', { expires_at: after, rotated_to: 'key_2' }, 'CONFLICT'],
  ])('a key that is %s cannot be rotated', (_, key, code) => {
    expect(() => rotationEnd(key, 60, now)).toThrow(expect.objectContaining({ code }));
  });
});
