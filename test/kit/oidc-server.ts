/** Real OpenID providers (oidc-provider) on loopback. An identity provider signs in the person named by a test. */
import { createServer } from 'node:http';
import { Provider, type Configuration, type Grant } from 'oidc-provider';
import { listening } from './listening.ts';

export type Person = { sub: string; email?: string; email_verified?: boolean; name?: string; picture?: string };
export type IdentityProvider = {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** The person who signs in next. Every sign-in succeeds. */
  person: Person | undefined;
  close(): Promise<void>;
};

/** Starts a provider with PKCE. `permit` adds scopes to each grant, and `result` returns how each interaction ends. */
export async function startProvider(
  configuration: Configuration,
  permit: (grant: Grant) => void,
  result: () => object,
) {
  const server = createServer();
  const { url: issuer, close } = await listening(server);
  const provider = new Provider(issuer, {
    cookies: { keys: ['test'] },
    pkce: { required: () => true },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({ clientId: oidc.client!.clientId, accountId: oidc.session!.accountId! });
      permit(grant);
      await grant.save();
      return grant;
    },
    ...configuration,
  });
  provider.use(async (ctx, next) => {
    if (!ctx.path.startsWith('/interaction/')) return next();
    await provider.interactionFinished(ctx.req, ctx.res, result(), { mergeWithLastSubmission: false });
    ctx.respond = false;
  });
  server.on('request', provider.callback());
  return { issuer, provider, close };
}

/**
 * `idTokenClaims` says whether the ID token contains the e-mail address. Otherwise only the userinfo endpoint returns
 * it.
 */
export async function startIdentityProvider(
  redirectUris: string[],
  { idTokenClaims = false } = {},
): Promise<IdentityProvider> {
  const people = new Map<string, Person>();
  const client = { clientId: 'support-platform', clientSecret: 'a-client-secret-of-the-test' };
  const state: Pick<IdentityProvider, 'person'> = { person: undefined };
  const { issuer, close } = await startProvider(
    {
      clients: [{ client_id: client.clientId, client_secret: client.clientSecret, redirect_uris: redirectUris }],
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'picture'] },
      conformIdTokenClaims: !idTokenClaims,
      features: { devInteractions: { enabled: false } },
      findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ ...people.get(sub), sub }) }),
    },
    (grant) => grant.addOIDCScope('openid email profile'),
    () => {
      const { person } = state;
      if (!person) return { error: 'access_denied', error_description: 'The person said no.' };
      people.set(person.sub, person);
      return { login: { accountId: person.sub } };
    },
  );
  return Object.assign(state, { issuer, ...client, close });
}
