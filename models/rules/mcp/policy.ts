/** Who may have which tool called, and who has to agree first. */
import type { ApprovedTool, AuthScope, Outcome, RiskTier } from './tool.ts';

/**
 * What is known of the customer who writes. `visitor`: a page's signature vouches for the e-mail. `verified`: the
 * organization's backend has minted the session.
 */
export const identities = ['anonymous', 'visitor', 'verified'] as const;
export type Identity = (typeof identities)[number];

/** What is done when the agent wants to call a tool. */
export type Verdict = 'call' | 'ask_customer' | 'ask_step_up' | 'ask_member' | 'hand_off' | 'deny';

/** The scope that an identity reaches; it meets all scopes before it, too. */
const reach: Readonly<Record<Identity, AuthScope>> = {
  anonymous: 'public',
  visitor: 'verified_visitor',
  verified: 'verified_customer',
};
const rank: Readonly<Record<AuthScope, number>> = { public: 0, verified_visitor: 1, verified_customer: 2 };

const verdictOfTier: Readonly<Record<RiskTier, Verdict>> = {
  read_public: 'call',
  read_private: 'call',
  safe_write: 'call',
  customer_confirm: 'ask_customer',
  step_up: 'ask_step_up',
  admin_approve: 'ask_member',
  human_only: 'hand_off',
};

const meetsScope = (identity: Identity, scope: AuthScope): boolean => rank[reach[identity]] >= rank[scope];

/**
 * What is public is for everybody, and what only people do is handed to a person whoever asks. For every other tier the
 * scope comes first: nobody is asked about a call that this customer may not have made.
 */
export function verdictOn(
  { risk_tier, auth_scope }: Pick<ApprovedTool, 'risk_tier' | 'auth_scope'>,
  identity: Identity,
): Verdict {
  const verdict = verdictOfTier[risk_tier];
  if (risk_tier === 'read_public' || risk_tier === 'human_only') return verdict;
  return meetsScope(identity, auth_scope) ? verdict : 'deny';
}

/** Who a session's customer is, as far as tools are concerned; a message without a session is nobody's. */
export function identityOf(session: { kind: 'minted' | 'embed'; verified: boolean } | undefined): Identity {
  if (!session?.verified) return 'anonymous';
  return session.kind === 'minted' ? 'verified' : 'visitor';
}

/** What a verdict that ends in no call is, for those who read what became of it. */
export const outcomeOf = { hand_off: 'handed_off', deny: 'denied' } as const satisfies Partial<
  Record<Verdict, Outcome>
>;
