/** Routes that sign a user in, with e-mail and password or through an identity provider. */
import { jwt, open } from '../auth.ts';
import type { Context } from '../../context.ts';
import * as contract from '../contract/auth.ts';
import { dropLogin, keepLogin, onlyOwnPage } from '../browserlogin.ts';
import { beginSignIn, finishSignIn, type FederatedPerson } from '../oidc.ts';
import { authenticate, login, memberships, newUser, passwords, viewUser } from '../people.ts';
import { redirect, route } from '../../http/route.ts';
import { isDuplicate } from '../../../models/base/connect.ts';
import { newId } from '../../../models/base/ids.ts';
import { newOrganization } from '../../../models/access/organization.ts';
import { normalizeEmail } from '../../../models/rules/access/email.ts';
import { Problem } from '../../../models/rules/base/errors.ts';
import {
  createUser,
  findUser,
  findUserByEmail,
  findUserByIdentity,
  joinIdentity,
  type User,
} from '../../../models/access/user.ts';

/**
 * The account of a person whom an identity provider signed in: the one with this identity, else the one with this
 * e-mail, else a new one. If the provider has verified the address and the account's address is unverified, the person
 * takes over the account. `joinIdentity` then removes the account's password and its other identities.
 */
async function accountOf(ctx: Context, person: FederatedPerson): Promise<User> {
  const { provider, subject, email, emailVerified, name } = person;
  const identity = { provider, subject };
  for (;;) {
    const known = await findUserByIdentity(identity);
    if (known && (known.email_verified || !emailVerified || known.email !== email)) return known;
    const sameEmail = known ?? (await findUserByEmail(email));
    if (sameEmail && !emailVerified) {
      const message =
        'An account with this e-mail exists, and the identity provider has not verified that the address is yours. Sign in as you did before, or have the provider verify it.';
      throw new Problem('FEDERATED_LOGIN_FAILED', { message });
    }
    try {
      if (sameEmail) {
        const joined = await joinIdentity(sameEmail, identity, ctx.clock());
        if (joined) return joined;
      } else {
        const user = newUser(ctx, {
          email,
          email_verified: emailVerified,
          name,
          identities: [identity],
          ...(person.picture ? { picture: person.picture } : {}),
        });
        await createUser(user);
        return user;
      }
    } catch (error) {
      // A duplicate means that the same sign-in in another tab created the account meanwhile. The next round of the
      // loop finds that account.
      if (!isDuplicate(error)) throw error;
    }
  }
}

/** @throws Problem BAD_LOGIN */
async function loginWith(ctx: Context, given: { email: string; password: string }, address: string) {
  const user = await authenticate(ctx, { email: normalizeEmail(given.email), password: given.password, address });
  if (!user) throw new Problem('BAD_LOGIN');
  return login(ctx, user);
}

export const authRoutes = [
  route(contract.register, {
    summary: 'Create an account, and with `company` its organization, and log in.',
    auth: open,
    status: 201,
    limit: 'accounts',
    errors: ['EMAIL_TAKEN'],
    async handle({ body }, ctx) {
      const email = normalizeEmail(body.email);
      const password_hash = await passwords(ctx.config).hash(body.password);
      const user = newUser(ctx, { email, email_verified: false, name: body.name, identities: [], password_hash });
      const org =
        body.company === undefined ? undefined : newOrganization(newId('org'), body.company, user._id, ctx.clock());
      await createUser(user, org).catch((error: unknown) => {
        throw isDuplicate(error) ? new Problem('EMAIL_TAKEN') : error;
      });
      return login(ctx, user);
    },
  }),
  route(contract.login, {
    summary: 'Log in with e-mail and password.',
    auth: open,
    limit: 'none',
    errors: ['BAD_LOGIN', 'RATE_LIMITED'],
    handle: ({ body, principal }, ctx) => loginWith(ctx, body, principal.address),
  }),
  route(contract.getLogin, {
    summary: 'Who is logged in.',
    auth: jwt,
    async handle({ principal }) {
      const [user, organizations] = await Promise.all([findUser(principal.userId), memberships(principal.userId)]);
      if (!user) throw new Problem('UNAUTHENTICATED');
      return { user: viewUser(user), organizations };
    },
  }),
  route(contract.startFederatedLogin, {
    summary: 'Send the browser to an identity provider.',
    auth: open,
    status: 302,
    limit: 'accounts',
    async handle({ params, query, cookies }, ctx) {
      return redirect(await beginSignIn(ctx, params.provider, { page: query.page === 'app', cookies }));
    },
  }),
  route(contract.finishFederatedLogin, {
    summary: 'Where an identity provider sends the browser back to; answers as a login does.',
    auth: open,
    otherParameters: 'ignored',
    otherStatuses: [302],
    limit: 'callbacks',
    errors: ['FEDERATED_LOGIN_FAILED'],
    async handle({ params, query, cookies }, ctx) {
      const person = await finishSignIn(ctx, params.provider, query, cookies);
      const signedIn = await login(ctx, await accountOf(ctx, person));
      if (!person.page) return signedIn;
      keepLogin(cookies, ctx.config, signedIn, ctx.clock());
      return redirect(`${ctx.config.publicUrl}/app`);
    },
  }),
  route(contract.getBrowserLogin, {
    summary: 'How the page `/app` may sign somebody in, besides e-mail and password.',
    auth: open,
    handle: (_, { config }) => Promise.resolve({ providers: Object.keys(config.oidcProviders) }),
  }),
  route(contract.loginBrowser, {
    summary: 'Sign the page `/app` in: its browser gets a cookie that no script can read.',
    auth: open,
    // The reply is not stored for an `Idempotency-Key`, because a stored reply would be repeated without its cookie.
    asksOnly: true,
    limit: 'none',
    errors: ['BAD_LOGIN', 'RATE_LIMITED', 'ORIGIN_NOT_ALLOWED'],
    async handle({ body, principal, cookies }, ctx) {
      onlyOwnPage(cookies);
      const signedIn = await loginWith(ctx, body, principal.address);
      keepLogin(cookies, ctx.config, signedIn, ctx.clock());
      return signedIn;
    },
  }),
  route(contract.logoutBrowser, {
    summary: 'Sign the page `/app` out in this browser.',
    auth: open,
    limit: 'none',
    errors: ['ORIGIN_NOT_ALLOWED'],
    handle({ cookies }, { config }) {
      onlyOwnPage(cookies);
      dropLogin(cookies, config);
      return Promise.resolve({ signed_out: true as const });
    },
  }),
];
