/** A real identity provider (oidc-provider) on loopback that signs in the person named by a test. */
import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';
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

/**
 * `idTokenClaims` says whether the ID token contains the e-mail address. Otherwise only the userinfo endpoint returns
 * it.
 */
export async function startIdentityProvider(
  redirectUris: string[],
  { idTokenClaims = false } = {},
): Promise<IdentityProvider> {
  const server = createServer();
  const { url: issuer, close } = await listening(server);
  const people = new Map<string, Person>();
  const idp: IdentityProvider = {
    issuer,
    clientId: 'support-platform',
    clientSecret: 'a-client-secret-of-the-test',
    person: undefined,
    close,
  };
  const provider = new Provider(issuer, {
    clients: [{ client_id: idp.clientId, client_secret: idp.clientSecret, redirect_uris: redirectUris }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'picture'] },
    conformIdTokenClaims: !idTokenClaims,
    cookies: { keys: ['test'] },
    features: { devInteractions: { enabled: false } },
    pkce: { required: () => true },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ ...people.get(sub), sub }) }),
    async loadExistingGrant(ctx) {
      const accountId = ctx.oidc.session!.accountId!;
      const grant = new ctx.oidc.provider.Grant({ clientId: ctx.oidc.client!.clientId, accountId });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  });
  provider.use(async (ctx, next) => {
    if (!ctx.path.startsWith('/interaction/')) return next();
    const { person } = idp;
    if (person) people.set(person.sub, person);
    const result = person
      ? { login: { accountId: person.sub } }
      : { error: 'access_denied', error_description: 'The person said no.' };
    await provider.interactionFinished(ctx.req, ctx.res, result, { mergeWithLastSubmission: false });
    ctx.respond = false;
  });
  server.on('request', provider.callback());
  return idp;
}
