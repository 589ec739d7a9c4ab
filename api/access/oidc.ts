/**
 * Federated sign-in by OpenID Connect: redirects a browser to a configured identity provider (authorization code,
 * state, nonce, PKCE S256) and reads the identity from the callback. api/access/routes/auth.ts decides which account
 * belongs to the identity.
 */
import * as client from 'openid-client';
import { inSpan } from '../../clients/base/tracing.ts';
import { beginRedirect, endRedirect } from './browser.ts';
import type { Context } from '../context.ts';
import { perConfig } from '../http/perconfig.ts';
import type { Cookies } from '../http/route.ts';
import type { Config } from '../../config.ts';
import { cached } from '../../models/base/cached.ts';
import { readEmail } from '../../models/rules/access/email.ts';
import { noSuch, Problem } from '../../models/rules/base/errors.ts';

export type FederatedPerson = {
  provider: string;
  /** The `sub` claim, unique within the provider. */
  subject: string;
  email: string;
  /** Whether the provider says that the address is verified. */
  emailVerified: boolean;
  name: string;
  picture?: string;
  /** Whether the page `/app` began the sign-in. */
  page: boolean;
};

/** A provider's metadata is cached for this long; openid-client refreshes the signing keys itself. */
const discoveryMs = 3600_000;
const timeoutSeconds = 10;
const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * The nonce and the PKCE verifier are secrets that complete the sign-in, and the browser must not learn them. `page`:
 * whether the page `/app` began the sign-in.
 */
type Kept = { nonce: string; verifier: string; page?: boolean };
const purposeOf = (provider: string): string => `oidc:${provider}`;

/** Begins a sign-in in this browser; returns the URL to redirect the browser to. */
export async function beginSignIn(
  ctx: Context,
  provider: string,
  { page, cookies }: { page: boolean; cookies: Cookies },
): Promise<string> {
  const configuration = await discover(ctx.config, provider);
  const state = client.randomState();
  const nonce = client.randomNonce();
  const verifier = client.randomPKCECodeVerifier();
  const kept: Kept = { nonce, verifier, page };
  await beginRedirect(ctx, cookies, { state, purpose: purposeOf(provider), kept });
  const url = client.buildAuthorizationUrl(configuration, {
    redirect_uri: callbackUrl(ctx.config, provider),
    response_type: 'code',
    scope: 'openid email profile',
    state,
    nonce,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  return url.href;
}

/**
 * Reads the identity from the callback. `params`: the callback's query.
 * @throws Problem FEDERATED_LOGIN_FAILED for anything forged, repeated, late or refused; UNAVAILABLE when the provider
 * does not answer.
 */
export async function finishSignIn(
  ctx: Context,
  provider: string,
  params: Record<string, string | undefined> & { state?: string | undefined },
  cookies: Cookies,
): Promise<FederatedPerson> {
  const configuration = await discover(ctx.config, provider);
  const { state } = params;
  const kept = await endRedirect<Kept>(ctx, cookies, { state, purpose: purposeOf(provider) });
  if (!state || !kept)
    throw new Problem('FEDERATED_LOGIN_FAILED', {
      message: 'This sign-in is over or was not started in this browser; start it again.',
    });
  const { nonce, verifier, page = false } = kept;
  const url = new URL(callbackUrl(ctx.config, provider));
  for (const [name, value] of Object.entries(params)) if (value !== undefined) url.searchParams.set(name, value);
  const claims = await confirmed(async () => {
    const tokens = await client.authorizationCodeGrant(configuration, url, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    });
    const inToken = tokens.claims()!;
    // Many providers leave the e-mail out of the ID token; then the userinfo endpoint is asked for the same subject.
    return inToken['email'] === undefined
      ? { ...inToken, ...(await client.fetchUserInfo(configuration, tokens.access_token, inToken.sub)) }
      : inToken;
  });
  const email = readEmail(claims['email']);
  if (!email)
    throw new Problem('FEDERATED_LOGIN_FAILED', {
      message: 'The identity provider did not tell an e-mail address; allow it to, and start again.',
    });
  return {
    provider,
    subject: claims.sub,
    email,
    emailVerified: claims['email_verified'] === true,
    name: readName(claims['name']) ?? email.split('@')[0]!,
    ...readPicture(claims['picture']),
    page,
  };
}

/** Each request to a provider is a span in the sign-in's trace; no trace header is sent to the provider. */
const traced: client.CustomFetch = (url, options) => {
  const attributes = { 'server.address': new URL(url).hostname, 'http.request.method': options.method };
  return inSpan(options.method, { kind: 'client', attributes }, () => fetch(url, options as RequestInit));
};

const metadata = perConfig(({ oidcProviders }: Config) =>
  cached(
    (provider: string): Promise<client.Configuration> => {
      const { issuer, client_id, client_secret } = oidcProviders[provider]!;
      const url = new URL(issuer);
      // Over plain http, codes and secrets are readable on the network, so only a provider on this machine may use it.
      const execute = url.protocol === 'http:' && loopback.test(url.hostname) ? [client.allowInsecureRequests] : [];
      const options = { execute, timeout: timeoutSeconds, [client.customFetch]: traced };
      return client.discovery(url, client_id, client_secret, undefined, options);
    },
    { ttlMs: discoveryMs },
  ),
);

async function discover(config: Config, provider: string): Promise<client.Configuration> {
  if (!Object.hasOwn(config.oidcProviders, provider)) throw noSuch('identity provider');
  try {
    return await metadata(config)(provider);
  } catch (error) {
    throw new Problem('UNAVAILABLE', {
      message: 'The identity provider does not answer right now; try again.',
      cause: error,
    });
  }
}

/** Missing or forged data in a provider's reply is a refusal. Only a provider that does not reply is unavailable. */
async function confirmed<T>(exchange: () => Promise<T>): Promise<T> {
  try {
    return await exchange();
  } catch (error) {
    const silent =
      error instanceof TypeError || ['OAUTH_TIMEOUT', 'OAUTH_ABORT'].includes((error as { code?: string }).code ?? '');
    throw new Problem(silent ? 'UNAVAILABLE' : 'FEDERATED_LOGIN_FAILED', { cause: error });
  }
}

const callbackUrl = (config: Config, provider: string) =>
  `${config.publicUrl}/v1/auth/oidc/${encodeURIComponent(provider)}/callback`;

function readName(claim: unknown): string | undefined {
  if (typeof claim !== 'string') return undefined;
  const name = claim.replaceAll(/\p{Cc}+/gu, ' ').trim();
  return Array.from(name).slice(0, 100).join('') || undefined;
}

function readPicture(claim: unknown): { picture?: string } {
  const usable =
    typeof claim === 'string' && claim.length <= 2048 && URL.canParse(claim) && new URL(claim).protocol === 'https:';
  return usable ? { picture: claim } : {};
}
