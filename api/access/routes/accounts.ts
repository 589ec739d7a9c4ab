/** Routes of one's own account: reset a forgotten password, end all logins, change the e-mail address. */
import { jwt, open } from '../auth.ts';
import { authenticate, passwords } from '../people.ts';
import { checkMails, countMail } from '../accountmail.ts';
import * as contract from '../contract/accounts.ts';
import * as profiles from '../contract/profile.ts';
import { self, viewProfile } from '../profile.ts';
import type { Context } from '../../context.ts';
import { route } from '../../http/route.ts';
import { isDuplicate } from '../../../models/base/connect.ts';
import { hashToken } from '../../../models/access/key.ts';
import { changeEmail, endLogins, findUserByProof, resetPassword, type User } from '../../../models/access/user.ts';
import { deadLink } from '../../../models/rules/access/account.ts';
import { normalizeEmail } from '../../../models/rules/access/email.ts';
import { Problem } from '../../../models/rules/base/errors.ts';

/**
 * Queues the notice about a change that was made. An error does not fail the request, because the link is used up and a
 * retry would only get LINK_OVER.
 */
async function tellOwner(ctx: Context, kind: 'password_changed' | 'email_changed', { _id, email }: User) {
  await ctx.hooks.mailAccount(ctx, { kind, user_id: _id, email }).catch((error: unknown) => {
    ctx.log.error({ err: error, user_id: _id }, `the notice ${kind} was not stored, so nobody gets it`);
  });
}

export const accountRoutes = [
  route({
    name: 'forgotPassword',
    method: 'POST',
    path: '/auth/password/forgot',
    summary: 'Have a link to a new password mailed, if there is an account of this address; the answer is the same.',
    auth: open,
    body: contract.forgotBody,
    status: 202,
    reply: contract.acceptedReply,
    envelope: true,
    limit: 'accounts',
    errors: ['NO_MAIL_SERVER'],
    async handle({ body }, ctx) {
      checkMails(ctx);
      const email = normalizeEmail(body.email);
      await countMail(ctx, 'password_reset', email);
      await ctx.hooks.mailAccount(ctx, { kind: 'password_reset', email });
      return { accepted: true as const };
    },
  }),
  route({
    name: 'resetPassword',
    method: 'POST',
    path: '/auth/password/reset',
    summary: 'Set a new password by a link, which is good once. Every login of the account ends.',
    auth: open,
    body: contract.resetBody,
    reply: contract.resetReply,
    envelope: true,
    limit: 'accounts',
    errors: ['LINK_OVER'],
    async handle({ body }, ctx) {
      const hash = hashToken(body.token);
      // The token is checked before the password is hashed, so that a made-up token does not cost a password hash.
      if (!(await findUserByProof('password_reset', hash, ctx.clock()))) throw deadLink();
      const user = await resetPassword(hash, await passwords(ctx.config).hash(body.password), ctx.clock());
      if (!user) throw deadLink();
      await tellOwner(ctx, 'password_changed', user);
      return { reset: true as const };
    },
  }),
  route({
    name: 'endLogins',
    method: 'POST',
    path: '/auth/logout-everywhere',
    summary: 'End every login of your account, this one too, and every link that was mailed.',
    auth: jwt,
    reply: contract.signedOutReply,
    envelope: true,
    limit: 'writes',
    async handle({ principal }) {
      await endLogins(principal.userId);
      return { signed_out: true as const };
    },
  }),
  route({
    name: 'changeEmail',
    method: 'POST',
    path: '/auth/email',
    summary: 'Have a link mailed to another address, or to your own, that makes it the proven address of your account.',
    auth: jwt,
    body: contract.changeEmailBody,
    status: 202,
    reply: contract.acceptedReply,
    envelope: true,
    limit: 'accounts',
    errors: ['BAD_LOGIN', 'CONFLICT', 'NO_MAIL_SERVER'],
    async handle({ body, principal }, ctx) {
      checkMails(ctx);
      const { email: current, password_hash } = await self(principal.userId);
      if (password_hash === undefined) {
        const message = 'This account has no password. Set one first (POST /auth/password/forgot).';
        throw new Problem('CONFLICT', { message });
      }
      // The password is asked for again, so that a stranger at an unlocked browser cannot take the account over.
      const { password } = body;
      if (!(await authenticate(ctx, { email: current, password, address: principal.address })))
        throw new Problem('BAD_LOGIN', { message: 'The password is wrong.' });
      const email = normalizeEmail(body.email);
      await countMail(ctx, 'email_change', email);
      await ctx.hooks.mailAccount(ctx, { kind: 'email_change', user_id: principal.userId, email });
      return { accepted: true as const };
    },
  }),
  route({
    name: 'confirmEmail',
    method: 'POST',
    path: '/auth/email/confirm',
    summary: 'Prove by a link that an address is yours: the account has it from now on, and other links end.',
    auth: jwt,
    body: contract.confirmBody,
    reply: profiles.profile,
    envelope: true,
    limit: 'accounts',
    errors: ['LINK_OVER', 'EMAIL_TAKEN'],
    async handle({ body, principal }, ctx) {
      const { userId } = principal;
      const before = await changeEmail(userId, hashToken(body.token), ctx.clock()).catch((error: unknown) => {
        throw isDuplicate(error) ? new Problem('EMAIL_TAKEN') : error;
      });
      if (!before) throw deadLink();
      const user = await self(userId);
      if (user.email !== before.email) await tellOwner(ctx, 'email_changed', before);
      return viewProfile(user);
    },
  }),
];
