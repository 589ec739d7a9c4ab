/**
 * What is proven by mail: who may set a new password, and that a new address is somebody's. Pure. A proof is good once, for
 * half an hour.
 */
import { Problem } from '../base/errors.ts';

export const proofKinds = ['password_reset', 'email_change'] as const;
export type ProofKind = (typeof proofKinds)[number];

/** OWASP's advice is at most an hour; a mail that has not arrived within half of one is asked for again. */
export const proofMs = 30 * 60_000;
/** Links of one account that are good at the same time; the oldest one makes room. */
export const maxProofs = 5;

/** How long an invitation can be accepted. */
export const invitationMs = 7 * 86_400_000;

export const invitationStatuses = ['pending', 'accepted', 'revoked', 'expired'] as const;
export type InvitationStatus = (typeof invitationStatuses)[number];

/**
 * What a token stands for; a token of one purpose is none of another. An `invitation` goes by the deployment's own mail server, so
 * whoever has its token has the mailbox. An `invitation_link` passes through the hands of the organization, which reads what its own
 * mail server sends too, so it proves no address.
 */
export type TokenPurpose = ProofKind | 'invitation' | 'invitation_link';
/** What the page calls a link; it treats both links of an invitation alike. */
export type LinkPurpose = Exclude<TokenPurpose, 'invitation_link'> | 'mail_stop';

/**
 * The address of the page on which a link from a mail ends. The token is behind `#`, which browsers send to nobody: it is in
 * no log of a server or a proxy, and in no `Referer`.
 */
export const linkOf = (publicUrl: string, purpose: LinkPurpose, token: string): string =>
  `${publicUrl}/account#${purpose}=${token}`;

/** Why a token is refused is not told: unknown, used and too old look the same. */
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
