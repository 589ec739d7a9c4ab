/** Routes of one's own account: reset a forgotten password, end all logins, change the e-mail address. */
import { jwt, open } from '../auth.ts';
import { authenticate, passwords } from '../people.ts';
import { checkMails, countMail } from '../accountmail.ts';
import * as contract from '../contract/accounts.ts';
import { self, viewProfile } from '../profile.ts';
import { route } from '../../http/route.ts';
import { isDuplicate } from '../../../models/base/connect.ts';
import { hashToken } from '../../../models/access/key.ts';
import { changeEmail, endLogins, findUserByProof, resetPassword } from '../../../models/access/user.ts';
import { deadLink } from '../../../models/rules/access/account.ts';
import { normalizeEmail } from '../../../models/rules/access/email.ts';
import { Problem } from '../../../models/rules/base/errors.ts';

export const accountRoutes = [
  route(contract.forgotPassword, {
    summary: 'Have a link to a new password mailed, if there is an account of this address; the answer is the same.',
    auth: open,
    status: 202,
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
  route(contract.resetPassword, {
    summary: 'Set a new password by a link, which is good once. Every login of the account ends.',
    auth: open,
    limit: 'accounts',
    errors: ['LINK_OVER'],
    async handle({ body }, ctx) {
      const hash = hashToken(body.token);
      // The token is checked before the password is hashed, so that a made-up token does not cost a password hash.
      if (!(await findUserByProof('password_reset', hash, ctx.clock()))) throw deadLink();
      const password_hash = await passwords(ctx.config).hash(body.password);
      await ctx.hooks.changeAndTell(ctx, async (session) => {
        const user = await resetPassword(hash, password_hash, ctx.clock(), session);
        if (!user) throw deadLink();
        return { kind: 'password_changed', user_id: user._id, email: user.email };
      });
      return { reset: true as const };
    },
  }),
  route(contract.endLogins, {
    summary: 'End every login of your account, this one too, and every link that was mailed.',
    auth: jwt,
    async handle({ principal }, ctx) {
      await endLogins(principal.userId, ctx.clock());
      return { signed_out: true as const };
    },
  }),
  route(contract.changeEmail, {
    summary: 'Have a link mailed to another address, or to your own, that makes it the proven address of your account.',
    auth: jwt,
    status: 202,
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
  route(contract.confirmEmail, {
    summary: 'Prove by a link that an address is yours: the account has it from now on, and other links end.',
    auth: jwt,
    limit: 'accounts',
    errors: ['LINK_OVER', 'EMAIL_TAKEN'],
    async handle({ body, principal }, ctx) {
      const { userId } = principal;
      const change = ctx.hooks.changeAndTell(ctx, async (session) => {
        const changed = await changeEmail(userId, hashToken(body.token), ctx.clock(), session);
        if (!changed) throw deadLink();
        const { former, email } = changed;
        return former === email ? undefined : { kind: 'email_changed', user_id: userId, email: former };
      });
      await change.catch((error: unknown) => {
        throw isDuplicate(error) ? new Problem('EMAIL_TAKEN') : error;
      });
      return viewProfile(await self(userId));
    },
  }),
];
