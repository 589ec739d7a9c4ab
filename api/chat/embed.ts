/** Turns the credentials of a page that embeds the chat (a publishable key and a visitor id) into a principal. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { networkOf } from '../http/address.ts';
import type { SessionPrincipal } from '../access/auth.ts';
import { revokedSession } from '../access/sessions.ts';
import type { Context } from '../context.ts';
import { createLimiter } from '../http/limits.ts';
import { perConfig } from '../http/perconfig.ts';
import { cached } from '../../models/base/cached.ts';
import { provideCustomer, provideVisitor, type Customer } from '../../models/chat/customer.ts';
import { embedSecretPlace, recentEmbedSecret } from '../../models/access/embedsecret.ts';
import { newId } from '../../models/base/ids.ts';
import { wellFormed } from '../../models/access/key.ts';
import { findOrganization } from '../../models/access/organization.ts';
import { findPublishableKey } from '../../models/access/publishablekey.ts';
import { readEmail } from '../../models/rules/access/email.ts';
import { Problem, type Detail } from '../../models/rules/base/errors.ts';
import { effectiveMode, splitToken, type Mode } from '../../models/rules/access/keys.ts';
import {
  embedSessionMs,
  maxProductTypeLength,
  originAllowed,
  signaturePattern,
  visitorIdPattern,
} from '../../models/rules/access/session.ts';
import { provideEmbedSession, visitorSeen, type Session } from '../../models/access/session.ts';
import { recentSupportConfig } from '../../models/integrations/supportconfig.ts';

/** The data a page sends when it connects. All of it comes from a browser, and only `sig` proves anything. */
export type Embed = {
  /** The publishable key. */
  pk: string;
  /** The `Origin` header, which a browser sets and a page cannot. */
  origin: string | undefined;
  visitorId: string;
  email?: string | undefined;
  /** Hexadecimal HMAC-SHA256 of the e-mail in lower case, with the organization's embed secret. */
  sig?: string | undefined;
  productType?: string | undefined;
  address: string;
};

/** The credentials that admitted an embedded chat and that can be revoked. */
export type Admission = Pick<Embed, 'pk' | 'origin' | 'email' | 'sig'>;

/** Limits how many new visitors a network brings; one limiter per process and configuration. */
const limiter = perConfig(createLimiter);

const recentPage = cached(async (key: string) => {
  const record = await findPublishableKey(key);
  const org = record && (await findOrganization(record.org_id));
  return record && org ? { record, org } : undefined;
});

type EmbedContext = Pick<Context, 'config' | 'clock' | 'secrets'>;

/**
 * The principal of an embedded chat. Stores the session and, on a first visit, the customer.
 * @throws Problem UNAUTHENTICATED, ORIGIN_NOT_ALLOWED, VALIDATION, RATE_LIMITED.
 */
export async function admitEmbed(ctx: EmbedContext, embed: Embed): Promise<SessionPrincipal> {
  checkForm(embed);
  const { orgId, mode } = await pageOf(embed);
  const email = await provenEmail(ctx, orgId, mode, embed);
  const customer = await customerOf(ctx, orgId, mode, email, embed);
  const session = await provideEmbedSession(freshSession(customer, embed, ctx.clock()));
  if (session.revoked_at) throw revokedSession();
  return {
    kind: 'session',
    address: embed.address,
    orgId,
    mode,
    modes: [mode],
    sessionId: session._id,
    customerId: customer._id,
    verified: customer.verified,
    ...(productNamed(embed.productType) ? { productType: embed.productType } : {}),
    expiresAt: session.expires_at,
  };
}

/**
 * Checks that an embedded chat's key, origin and e-mail signature are still accepted. The session keeps its mode, even
 * if the key's mode has changed.
 * @throws Problem UNAUTHENTICATED, ORIGIN_NOT_ALLOWED.
 */
export async function recheckEmbed(
  ctx: EmbedContext,
  { orgId, mode }: Pick<SessionPrincipal, 'orgId' | 'mode'>,
  admission: Admission,
): Promise<void> {
  await pageOf(admission, mode);
  await provenEmail(ctx, orgId, mode, admission);
}

/**
 * The page's organization and mode. `standing`: the mode of the session. Without a session, the key's present mode is
 * used.
 */
async function pageOf({ pk, origin }: Admission, standing?: Mode): Promise<{ orgId: string; mode: Mode }> {
  const page = isPublishable(pk) ? await recentPage(pk) : undefined;
  if (!page) throw unauthenticated('This publishable key does not exist or was replaced.');
  const { record, org } = page;
  const mode = standing ?? effectiveMode(record.mode, org.environment).mode;
  const { allowed_origins } = await recentSupportConfig(org._id);
  if (!originAllowed(origin, allowed_origins, mode)) throw new Problem('ORIGIN_NOT_ALLOWED');
  return { orgId: org._id, mode };
}

/**
 * The e-mail that the page sent, after its signature was verified; undefined when the page sent no e-mail or no
 * signature.
 */
async function provenEmail(
  ctx: EmbedContext,
  orgId: string,
  mode: Mode,
  { email, sig }: Admission,
): Promise<string | undefined> {
  if (email === undefined || sig === undefined) return undefined;
  const address = readEmail(email)!;
  const now = ctx.clock();
  const record = await recentEmbedSecret(orgId, mode);
  const place = embedSecretPlace(orgId, mode);
  const former = record?.former && record.former.until > now ? [record.former.secret] : [];
  const secrets = record ? [record.secret, ...former].map((sealed) => ctx.secrets.open(sealed, place)) : [];
  if (!secrets.some((secret) => signs(secret, address, sig))) {
    throw unauthenticated(
      'The signature does not fit the e-mail; sign it in lower case with the current embed secret.',
    );
  }
  return address;
}

async function customerOf(
  ctx: EmbedContext,
  orgId: string,
  mode: Mode,
  email: string | undefined,
  { visitorId, address }: Embed,
) {
  // The web page generates the visitor id and can send any number of new ones, so the number of new ids from one
  // network is limited.
  if (!(await visitorSeen(orgId, mode, visitorId)))
    await limiter(ctx.config)('visitors', `${orgId}:${networkOf(address)}`);
  const now = ctx.clock();
  return email === undefined
    ? provideVisitor(orgId, mode, visitorId, now)
    : provideCustomer(orgId, mode, { email, visitorId }, now);
}

function freshSession(customer: Customer, { visitorId, productType }: Embed, now: Date) {
  return {
    _id: newId('session'),
    org_id: customer.org_id,
    mode: customer.mode,
    kind: 'embed',
    customer_id: customer._id,
    verified: customer.verified,
    ...(productNamed(productType) ? { product_type: productType } : {}),
    context: {},
    visitor_id: visitorId,
    expires_at: new Date(now.getTime() + embedSessionMs),
    created_by: 'embed',
    created_at: now,
  } as const satisfies Session;
}

function checkForm({ visitorId, email, sig, productType }: Embed): void {
  const details: Detail[] = [];
  const refuse = (name: string, message: string) => void details.push({ path: ['query', name], message });
  if (!visitorIdPattern.test(visitorId)) refuse('visitorId', 'must be 16 to 100 letters, digits, `-` or `_`');
  if ((email === undefined) !== (sig === undefined))
    refuse(email === undefined ? 'email' : 'sig', 'is missing: an e-mail and its signature go together');
  if (email !== undefined && readEmail(email) === undefined) refuse('email', 'must be an e-mail address');
  if (productType !== undefined && productType.length > maxProductTypeLength)
    refuse('productType', `may have ${maxProductTypeLength} characters`);
  if (details.length > 0) throw new Problem('VALIDATION', { details });
}

const isPublishable = (pk: string) => splitToken(pk)?.kind === 'publishable' && wellFormed(pk);

/** A blank product counts as none. */
function productNamed(productType: string | undefined): productType is string {
  return productType !== undefined && productType.trim() !== '';
}

/** Whether `sig` is the HMAC of the address with this secret, compared in constant time. */
function signs(secret: string, address: string, sig: string): boolean {
  if (!signaturePattern.test(sig)) return false;
  const right = createHmac('sha256', secret).update(address).digest();
  return timingSafeEqual(right, Buffer.from(sig, 'hex'));
}

const unauthenticated = (message: string) => new Problem('UNAUTHENTICATED', { message });
