/**
 * Proofs that arrive by mail: that somebody may set a new password, or owns a new address. Each is valid once, for half
 * an hour. Pure.
 */
import { Problem } from '../base/errors.ts';

export const proofKinds = ['password_reset', 'email_change'] as const;
export type ProofKind = (typeof proofKinds)[number];

/** OWASP's advice is at most an hour; a mail that has not arrived within half of one is asked for again. */
export const proofMs = 30 * 60_000;
/** How many links of one account are valid at the same time; a new one replaces the oldest. */
export const maxProofs = 5;

/** How long an invitation can be accepted. */
export const invitationMs = 7 * 86_400_000;

export const invitationStatuses = ['pending', 'accepted', 'revoked', 'expired'] as const;
export type InvitationStatus = (typeof invitationStatuses)[number];

/**
 * What a token is for; a token of one purpose is not accepted for another. An `invitation` is sent by the deployment's
 * own mail server, so whoever has its token owns the mailbox. An `invitation_link` passes through the organization,
 * which can also read its own mail server, so it proves no address.
 */
export type TokenPurpose = ProofKind | 'invitation' | 'invitation_link';
/** How the page names a link; it treats both kinds of invitation alike. */
export type LinkPurpose = Exclude<TokenPurpose, 'invitation_link'> | 'mail_stop';

/**
 * The URL of the page that a mailed link opens. The token is in the fragment, which browsers send to no server, so it
 * is in no log and in no `Referer`.
 */
export const linkOf = (publicUrl: string, purpose: LinkPurpose, token: string): string =>
  `${publicUrl}/account#${purpose}=${token}`;

/** A refused token gets no reason: unknown, used and expired look the same. */
export const deadLink = (): Problem =>
  new Problem('LINK_OVER', {
    message: 'This link is over: it was used, replaced, or is too old. Ask for another one.',
  });

/** An `https:` address of a picture. */
export function pictureProblem(text: string): string | undefined {
  const url = URL.parse(text);
  if (url?.protocol !== 'https:') return 'must be an address that begins with https://';
  if (url.username !== '' || url.password !== '') return 'must not carry a user name or password';
  return undefined;
}
