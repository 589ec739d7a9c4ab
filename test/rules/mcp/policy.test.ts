import { describe, expect, it } from '@jest/globals';
import { identities, identityOf, verdictOn, type Identity, type Verdict } from '../../../models/rules/mcp/policy.ts';
import { authScopes, riskTiers, servesMode, type AuthScope, type RiskTier } from '../../../models/rules/mcp/tool.ts';

/**
 * Columns: scopes public, verified_visitor and verified_customer. Each has one verdict for an anonymous, a visiting and
 * a verified customer.
 */
const always = (verdict: Verdict) => [verdict, verdict, verdict] as const;
const scoped = (verdict: Verdict) =>
  [
    [verdict, verdict, verdict],
    ['deny', verdict, verdict],
    ['deny', 'deny', verdict],
  ] as const;
const anyScope = (verdict: Verdict) => [always(verdict), always(verdict), always(verdict)] as const;

const table: Record<RiskTier, readonly (readonly Verdict[])[]> = {
  read_public: anyScope('call'),
  read_private: scoped('call'),
  safe_write: scoped('call'),
  customer_confirm: scoped('ask_customer'),
  step_up: scoped('ask_step_up'),
  admin_approve: scoped('ask_member'),
  human_only: anyScope('hand_off'),
};

const rows = riskTiers.flatMap((tier) =>
  authScopes.flatMap((scope, s) =>
    identities.map((identity, i) => [tier, scope, identity, table[tier][s]![i]!] as const),
  ),
);

describe('verdictOn', () => {
  it('the table of expected verdicts covers all 63 combinations of 7 tiers, 3 scopes and 3 kinds of customer', () =>
    expect(rows).toHaveLength(63));

  it.each(rows)(
    'a %s tool with scope %s called for a customer who is %s gets the verdict %s',
    (risk_tier, auth_scope, identity, verdict) => {
      expect(verdictOn({ risk_tier, auth_scope }, identity)).toBe(verdict);
    },
  );

  it('a denied tool call stays denied with a higher scope or a less verified customer', () => {
    const asks = (scope: AuthScope, identity: Identity) =>
      verdictOn({ risk_tier: 'safe_write', auth_scope: scope }, identity) === 'deny' ? 1 : 0;
    for (const [s, scope] of authScopes.entries())
      for (const [i, identity] of identities.entries()) {
        if (s > 0) expect(asks(scope, identity)).toBeGreaterThanOrEqual(asks(authScopes[s - 1]!, identity));
        if (i > 0) expect(asks(scope, identity)).toBeLessThanOrEqual(asks(scope, identities[i - 1]!));
      }
  });
});

describe('the tools of a sandbox', () => {
  it.each([
    [{ enabled: true }, 'live', true],
    [{ enabled: true, environment: 'production' }, 'live', true],
    [{ enabled: true, environment: 'production' }, 'test', true],
    [{ enabled: true, environment: 'sandbox' }, 'test', true],
    [{ enabled: true, environment: 'sandbox' }, 'live', false],
    [{ enabled: false, environment: 'production' }, 'live', false],
  ] as const)('the tools of server %j are available in %s mode: %s', (server, mode, serves) =>
    expect(servesMode(server, mode)).toBe(serves),
  );
});

describe('identityOf', () => {
  it.each([
    [undefined, 'anonymous'],
    [{ kind: 'embed', verified: false }, 'anonymous'],
    [{ kind: 'embed', verified: true }, 'visitor'],
    [{ kind: 'minted', verified: true }, 'verified'],
    [{ kind: 'minted', verified: false }, 'anonymous'],
  ] as const)('the session %j has the identity %s', (session, identity) => expect(identityOf(session)).toBe(identity));
});
