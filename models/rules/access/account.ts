/**
 * One-time tokens in mailed links. A token resets a password, confirms a new address or accepts an invitation. Pure.
 */
import { Problem } from '../base/errors.ts';

export const proofKinds = ['password_reset', 'email_change'] as const;
export type ProofKind = (typeof proofKinds)[number];

/** How long a token that resets a password or confirms an address is valid, in ms. OWASP advises at most an hour. */
export const proofMs = 30 * 60_000;
/** The maximum number of valid tokens of one account; a new token replaces the oldest. */
export const maxProofs = 5;

/** How long an invitation can be accepted, in ms. */
export const invitationMs = 7 * 86_400_000;

export const invitationStatuses = ['pending', 'accepted', 'revoked', 'expired'] as const;

/**
 * The purpose of a token; a token of one purpose is not accepted for another. An `invitation` is sent by the
 * deployment's own mail server, so whoever has the token owns the mailbox. An `invitation_link` is shown to the inviter
 * or sent by the organization's own mail server. The organization can read this link, so its token does not prove who
 * owns the mailbox.
 */
export type TokenPurpose = ProofKind | 'invitation' | 'invitation_link';
/**
 * The purposes in links to the account page, which treats both kinds of invitation alike. `mail_stop`: the link
 * unsubscribes from mails.
 */
export type LinkPurpose = Exclude<TokenPurpose, 'invitation_link'> | 'mail_stop';

/**
 * The URL of the account page in a mail. The token is in the fragment, which browsers never send to a server, so it
 * appears in no log and in no `Referer`.
 */
export const linkOf = (publicUrl: string, purpose: LinkPurpose, token: string): string =>
  `${publicUrl}/account#${purpose}=${token}`;

/** The error for a refused token. Unknown, used and expired tokens get the same error. */
export const deadLink = (): Problem =>
  new Problem('LINK_OVER', {
    message: 'This link is over: it was used, replaced, or is too old. Ask for another one.',
  });

/** What is wrong with the URL of a picture; undefined when it is an acceptable `https:` URL. */
export function pictureProblem(text: string): string | undefined {
  const url = URL.parse(text);
  if (url?.protocol !== 'https:') return 'must be an address that begins with https://';
  if (url.username !== '' || url.password !== '') return 'must not carry a user name or password';
  return undefined;
}
