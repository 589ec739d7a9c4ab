/**
 * Tiers, scopes and customers, from the customer's message to the tool being called, confirmed or refused: each tier
 * once, and each way in which a scope decides. All 63 combinations are rows in test/rules/mcp/policy.test.ts.
 */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { system, until } from '../kit/harness.ts';
import type { ChatClient } from '../kit/socket.ts';
import { inputSchema, shopping, type Approved, type Shop } from '../kit/toolshop.ts';
import { identities, type Identity } from '../../models/rules/mcp/policy.ts';
import { authScopes, riskTiers, type AuthScope, type RiskTier } from '../../models/rules/mcp/tool.ts';

const api = system();
const { opened, met, visited } = shopping(api);

type Happens = 'called' | 'denied' | 'handed_off' | 'confirm' | 'step_up' | 'member';
/** What happens in each tier if the scope allows it, repeated here so that the rule is not tested against itself. */
const onceReached: Readonly<Record<RiskTier, Happens>> = {
  read_public: 'called',
  read_private: 'called',
  safe_write: 'called',
  customer_confirm: 'confirm',
  step_up: 'step_up',
  admin_approve: 'member',
  human_only: 'handed_off',
};

const rows: readonly (readonly [RiskTier, AuthScope, Identity, Happens])[] = [
  ...riskTiers.map((tier) => [tier, 'verified_customer', 'verified', onceReached[tier]] as const),
  // The scope denies the customer.
  ['safe_write', 'verified_visitor', 'anonymous', 'denied'],
  ['safe_write', 'verified_customer', 'anonymous', 'denied'],
  ['safe_write', 'verified_customer', 'visitor', 'denied'],
  ['customer_confirm', 'verified_customer', 'visitor', 'denied'],
  // A lower scope allows less identified customers.
  ['safe_write', 'public', 'anonymous', 'called'],
  ['safe_write', 'verified_visitor', 'visitor', 'called'],
  // In these two tiers the scope does not matter.
  ['read_public', 'verified_customer', 'anonymous', 'called'],
  ['human_only', 'verified_customer', 'anonymous', 'handed_off'],
];

/** One noun for each tier and scope in `rows`, so that a message selects exactly one tool. */
const things: Readonly<Record<RiskTier, Partial<Record<AuthScope, string>>>> = {
  read_public: { verified_customer: 'invoice' },
  read_private: { verified_customer: 'flight' },
  safe_write: { public: 'newsletter', verified_visitor: 'reminder', verified_customer: 'appointment' },
  customer_confirm: { verified_customer: 'subscription' },
  step_up: { verified_customer: 'rental' },
  admin_approve: { verified_customer: 'contract' },
  human_only: { verified_customer: 'ticket' },
};
const toolFor = (thing: string) => `cancel_${thing}`;

const approved: Approved[] = riskTiers.flatMap((risk_tier) =>
  authScopes.flatMap((auth_scope) => {
    const thing = things[risk_tier][auth_scope];
    if (thing === undefined) return [];
    return [{ tool: { name: toolFor(thing), description: `Cancels a ${thing}.`, inputSchema }, risk_tier, auth_scope }];
  }),
);

let shop: Shop;
let embedSecret: string;
beforeAll(async () => {
  shop = await opened(approved);
  const reply = await api.request('POST', `/support/sessions/orgs/${shop.org.orgId}/embed-secret`, {
    token: shop.key,
    body: {},
  });
  embedSecret = reply.body.embed_secret;
});

const arrives = async (who: Identity): Promise<ChatClient> => {
  if (who === 'verified') return (await met(shop)).client;
  return visited(shop, who === 'visitor' ? embedSecret : undefined);
};

/** Determines the outcome from whichever comes first: frames, approvals or the audit log. */
async function whatHappens(client: ChatClient, name: string): Promise<Happens> {
  const told = await until(
    async () => {
      for (const frame of client.frames) if (frame.type === 'confirm' || frame.type === 'step_up') return frame.type;
      const { body } = await shop.request('GET', `/audit?conversation_id=${client.convId}&limit=50`);
      const [first] = (body.events as { kind: string; action: string; outcome: string | null }[]).filter(
        ({ kind, action }) => kind === 'invocation' || action === 'asked_member',
      );
      return first && (first.kind === 'invocation' ? first.outcome! : 'member');
    },
    () => `something to become of ${name}: ${JSON.stringify(client.frames.at(-1))}`,
  );
  return told === 'ok' ? 'called' : (told as Happens);
}

describe('a tool’s tier and scope, and who the customer is', () => {
  it.each(rows)(
    'a tool of tier %s and scope %s, requested by a customer of identity “%s”, ends in “%s” (“member”: awaits a member’s approval)',
    async (tier, scope, who, expected) => {
      const client = await arrives(who);
      const thing = things[tier][scope]!;
      const name = toolFor(thing);
      const order = `A-${riskTiers.indexOf(tier)}${authScopes.indexOf(scope)}${identities.indexOf(who)}7`;
      client.say(`Please cancel my ${thing} ${order}`);
      expect(await whatHappens(client, name)).toBe(expected);
      const calls = shop.mcp.calls.filter(({ arguments: given }) => given['order_number'] === order);
      expect(calls.map((call) => call.name)).toEqual(expected === 'called' ? [name] : []);
      // The server is told the customer's identity only when a backend vouches for it.
      for (const { meta } of calls) expect('io.svc/customer' in meta).toBe(who === 'verified');
      if (expected === 'denied') expect((await client.frame('reply_end')).body).toContain('who you are');
      const [event] = await shop.events(`?conversation_id=${client.convId}`);
      expect(event).toMatchObject({ tool: name, risk_tier: tier, auth_scope: scope });
      client.drop();
    },
  );

  it('these tests cover every risk tier, every auth scope and every kind of customer', () => {
    expect(new Set(rows.map(([tier]) => tier))).toEqual(new Set(riskTiers));
    expect(new Set(rows.map(([, scope]) => scope))).toEqual(new Set(authScopes));
    expect(new Set(rows.map(([, , who]) => who))).toEqual(new Set(identities));
  });
});
