/**
 * The texts of mails about accounts. Names that users chose are written with `shownName`, so that no name becomes a
 * link. A mail with a link says when the link expires, and what to do when the mail was not requested. Pure.
 */
import type { Role } from './roles.ts';

/** The kind of a mail and the values in its text. */
type AccountMail =
  | { kind: 'password_reset'; name: string }
  | { kind: 'password_changed'; name: string }
  | { kind: 'email_change'; name: string }
  | { kind: 'email_changed'; name: string }
  | { kind: 'invitation'; inviter: string; org: string; role: Role };

export type AccountMailKind = AccountMail['kind'];
/**
 * A stored account mail. Its text and link are made at each sending attempt, so no record holds a token.
 * `password_reset` has no `user_id`: the route does not look up the account, so its response cannot reveal whether the
 * account exists.
 */
export type AccountLetter =
  | { kind: 'password_reset'; email: string }
  | { kind: 'email_change' | 'password_changed' | 'email_changed'; user_id: string; email: string }
  | { kind: 'invitation'; invitation_id: string; email: string };

/** A name chosen by a user, without anything that looks like a URL. */
export const shownName = (name: string): string =>
  name
    .replaceAll(/[^\p{L}\p{M}\p{N} .,&'’()+-]+/gu, ' ')
    .replaceAll(/\.(?=\S)/gu, '. ')
    .replaceAll(/\s+/gu, ' ')
    .trim();

const asked = 'If this was not you, ignore this mail: nothing has changed.';
const notYou =
  'If this was not you, ask for a new password at the login at once; that ends every login of your account.';

/**
 * Subject and text of a mail. `link`: the URL with the token, or a placeholder when a member views the stored mail.
 * Mails of some kinds have no link.
 */
export function accountMailText(mail: AccountMail, link = ''): { subject: string; text: string } {
  switch (mail.kind) {
    case 'password_reset':
      return {
        subject: 'Set a new password',
        text: page(hello(mail.name), 'You can set a new password here within 30 minutes:', link, asked),
      };
    case 'password_changed':
      return {
        subject: 'Your password was changed',
        text: page(hello(mail.name), 'A new password was set for your account, and every login has ended.', notYou),
      };
    case 'email_change':
      return {
        subject: 'Confirm your e-mail address',
        text: page(
          hello(mail.name),
          'Confirm within 30 minutes that this is the address of your account. You have to be logged in:',
          link,
          asked,
        ),
      };
    case 'email_changed':
      return {
        subject: 'The e-mail address of your account was changed',
        text: page(
          hello(mail.name),
          'Your account has another e-mail address now; this one is no longer used.',
          'If this was not you, tell whoever operates this system.',
        ),
      };
    case 'invitation':
      return {
        subject: `Invitation to ${shownName(mail.org)}`.slice(0, 120),
        text: page(
          `${shownName(mail.inviter)} invites you to “${shownName(mail.org)}” as ${article(mail.role)}.`,
          'Accept it here within 7 days, with an account of this e-mail address:',
          link,
          'If you do not know what this is about, ignore this mail: you are part of nothing.',
        ),
      };
  }
}

const article = (role: Role): string => (role === 'member' ? 'a member' : `an ${role}`);
const hello = (name: string): string => (shownName(name) === '' ? 'Hello,' : `Hello ${shownName(name)},`);
const page = (...parts: string[]): string => `${parts.join('\n\n')}\n`;
