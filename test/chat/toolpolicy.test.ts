/**
 * All combinations of tier, scope and customer, from the customer's message to the tool being called, confirmed or
 * refused.
 */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { system, until } from '../kit/harness.ts';
import type { ChatClient } from '../kit/socket.ts';
import { inputSchema, shopping, type Approved, type Shop } from '../kit/toolshop.ts';
import type { AuthScope, RiskTier } from '../../models/rules/mcp/tool.ts';

const api = system();
const { opened, met, visited } = shopping(api);

type Who = 'anonymous' | 'visitor' | 'verified';
type Happens = 'called' | 'denied' | 'handed_off' | 'confirm' | 'step_up' | 'member';
const everybody: readonly Who[] = ['anonymous', 'visitor', 'verified'];
/** The customers that each scope allows, repeated here so that the rule is not tested against itself. */
const reached: Readonly<Record<AuthScope, readonly Who[]>> = {
  public: everybody,
  verified_visitor: ['visitor', 'verified'],
  verified_customer: ['verified'],
};
const scopes = Object.keys(reached) as AuthScope[];
const onceReached: Readonly<Record<RiskTier, Happens>> = {
  read_public: 'called',
  read_private: 'called',
  safe_write: 'called',
  customer_confirm: 'confirm',
  step_up: 'step_up',
  admin_approve: 'member',
  human_only: 'handed_off',
};
const tiers = Object.keys(onceReached) as RiskTier[];
/** The two tiers for which the scope does not matter. */
const forAll: readonly RiskTier[] = ['read_public', 'human_only'];

/** One noun per tier and scope, so that a message selects exactly one tool. */
const things: Readonly<Record<RiskTier, readonly [string, string, string]>> = {
  read_public: ['parcel', 'voucher', 'invoice'],
  read_private: ['booking', 'insurance', 'flight'],
  safe_write: ['newsletter', 'reminder', 'appointment'],
  customer_confirm: ['delivery', 'reservation', 'subscription'],
  step_up: ['transfer', 'pension', 'rental'],
  admin_approve: ['refund', 'warranty', 'contract'],
  human_only: ['donation', 'magazine', 'ticket'],
};
const thingOf = (tier: RiskTier, scope: AuthScope) => things[tier][scopes.indexOf(scope)]!;
const toolOf = (tier: RiskTier, scope: AuthScope) => `cancel_${thingOf(tier, scope)}`;

const approved: Approved[] = tiers.flatMap((risk_tier) =>
  scopes.map((auth_scope) => ({
    tool: {
      name: toolOf(risk_tier, auth_scope),
      description: `Cancels a ${thingOf(risk_tier, auth_scope)}.`,
      inputSchema,
    },
    risk_tier,
    auth_scope,
  })),
);

let shop: Shop;
let embedSecret: string;
beforeAll(async () => {
  shop = await opened(approved, { rate_limit_per_min: 10_000 });
  const reply = await api.request('POST', `/support/sessions/orgs/${shop.org.orgId}/embed-secret`, {
    token: shop.key,
    body: {},
  });
  embedSecret = reply.body.embed_secret;
});

const arrives = async (who: Who): Promise<ChatClient> => {
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

const rows = tiers.flatMap((tier) =>
  scopes.flatMap((scope) =>
    everybody.map((who) => {
      const may = forAll.includes(tier) || reached[scope].includes(who);
      return [tier, scope, who, may ? onceReached[tier] : 'denied'] as const;
    }),
  ),
);

describe('every tier, scope and customer', () => {
  it.each(rows)(
    'a tool of risk tier %s and auth scope %s, asked for by a customer who is %s, leads to: %s',
    async (tier, scope, who, expected) => {
      const client = await arrives(who);
      const name = toolOf(tier, scope);
      const order = `A-${tiers.indexOf(tier)}${scopes.indexOf(scope)}${everybody.indexOf(who)}7`;
      client.say(`Please cancel my ${thingOf(tier, scope)} ${order}`);
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

  it('all 63 combinations of tier, scope and customer are tested', () => expect(rows).toHaveLength(7 * 3 * 3));
});
