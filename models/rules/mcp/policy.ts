/** Decides for each tool call whether it runs, needs somebody's approval, goes to a person, or is denied. */
import type { ApprovedTool, AuthScope, Outcome, RiskTier } from './tool.ts';

/**
 * How well the customer is identified. `visitor`: the page's signature vouches for the e-mail. `verified`: the
 * organization's backend created the session.
 */
export const identities = ['anonymous', 'visitor', 'verified'] as const;
export type Identity = (typeof identities)[number];

/** The decision on a tool call that the agent wants to make. */
export type Verdict = 'call' | 'ask_customer' | 'ask_step_up' | 'ask_member' | 'hand_off' | 'deny';

/** The highest scope of each identity. A scope includes all lower scopes. */
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
 * The verdict on a call of a tool. Public tools run for everybody, and `human_only` tools go to a person for everybody.
 * In other tiers the scope is checked first, so that nobody is asked to approve a call that this customer may not make.
 */
export function verdictOn(
  { risk_tier, auth_scope }: Pick<ApprovedTool, 'risk_tier' | 'auth_scope'>,
  identity: Identity,
): Verdict {
  const verdict = verdictOfTier[risk_tier];
  if (risk_tier === 'read_public' || risk_tier === 'human_only') return verdict;
  return meetsScope(identity, auth_scope) ? verdict : 'deny';
}

/** The customer's identity for tool calls; a message without a session is anonymous. */
export function identityOf(session: { kind: 'minted' | 'embed'; verified: boolean } | undefined): Identity {
  if (!session?.verified) return 'anonymous';
  return session.kind === 'minted' ? 'verified' : 'visitor';
}

/** The recorded outcome of verdicts that end without a call. */
export const outcomeOf = { hand_off: 'handed_off', deny: 'denied' } as const satisfies Partial<
  Record<Verdict, Outcome>
>;
