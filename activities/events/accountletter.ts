/**
 * Writes account mails at the time of sending: the receiver, the text, and the link with its token, whose hash is
 * stored just before. Whether the account exists is checked only here, so that the person who requested the mail cannot
 * find out.
 */
import type { MailVia } from '../../providers/mail/settings.ts';
import { findInvitation } from '../../models/access/invitation.ts';
import { findOrganization } from '../../models/access/organization.ts';
import { proofHash, proofToken, storedProofToken } from '../../models/access/prooftoken.ts';
import { addProof, findUser, findUserByEmail } from '../../models/access/user.ts';
import type { SecretBox } from '../../models/base/secretbox.ts';
import type { Delivery } from '../../models/events/delivery.ts';
import { linkOf, proofMs, type ProofKind } from '../../models/rules/access/account.ts';
import {
  accountMailText,
  purposeOf,
  type AccountLetter,
  type AccountMail,
} from '../../models/rules/access/accountmail.ts';
import { mayAdd } from '../../models/rules/access/roles.ts';
import { DeliveryRefused } from '../../models/rules/events/delivery.ts';
import { nameOf, type Mailbox } from '../../models/rules/access/mailbox.ts';

/**
 * A mail without its link. `prepare` makes the link valid; it returns false when the mail must not be sent any more.
 */
export type Letter = {
  to: Mailbox;
  about: AccountMail;
  prepare(): Promise<boolean>;
  /** The token in the link of a mail that the given server sends; empty for a mail without a link. */
  token(via: MailVia): string;
  /**
   * For a mail to a person outside the organization: the organization, the reason, the account that sends it, and the
   * idempotency key for the limits.
   */
  outside?: { organization: string; why: 'invitation'; account: string; use: string };
};

const nothing = () => Promise.resolve(true);
const noToken = () => '';

/**
 * Writes the mail of a delivery; null when nobody is to get it. @throws DeliveryRefused when the invitation or the link
 * has expired.
 */
export async function letterOf(
  delivery: Pick<Delivery, '_id' | 'org_id' | 'created_at'>,
  letter: AccountLetter,
  { secrets, now }: { secrets: SecretBox; now: Date },
): Promise<Letter | null> {
  const to = (name: string): Mailbox => ({ name: nameOf(name), address: letter.email });
  if (letter.kind === 'invitation') {
    const [invitation, org] = await Promise.all([
      findInvitation(delivery.org_id, letter.invitation_id),
      findOrganization(delivery.org_id),
    ]);
    const own = org?.members.find(({ user_id }) => user_id === invitation?.invited_by);
    if (
      !org ||
      !own ||
      invitation?.status !== 'pending' ||
      invitation.expires_at <= now ||
      !mayAdd(own.role, invitation.role)
    )
      throw new DeliveryRefused('The invitation is over.', { permanent: true });
    const inviter = await findUser(invitation.invited_by);
    const about = {
      kind: 'invitation',
      inviter: inviter?.name ?? org.name,
      org: org.name,
      role: invitation.role,
    } as const;
    const { _id, hash, link_hash, invited_by } = invitation;
    // An organization can read the mails of its own mail server. The token of such a mail must therefore not prove the
    // address.
    const token = (via: MailVia): string =>
      via === 'organization'
        ? storedProofToken(secrets, 'invitation_link', _id, link_hash)
        : storedProofToken(secrets, 'invitation', _id, hash);
    const outside = { organization: org.name, why: 'invitation', account: invited_by, use: _id } as const;
    return { to: to(''), about, prepare: nothing, token, outside };
  }
  const account = 'user_id' in letter ? await findUser(letter.user_id) : await findUserByEmail(letter.email);
  if (!account) return null;
  const about = { kind: letter.kind, name: account.name } as const;
  if (letter.kind === 'password_changed' || letter.kind === 'email_changed')
    return { to: to(account.name), about, prepare: nothing, token: noToken };
  const expires_at = new Date(delivery.created_at.getTime() + proofMs);
  if (expires_at <= now) throw new DeliveryRefused('Its link would be over by now.', { permanent: true });
  if (letter.kind === 'email_change') {
    const other = await findUserByEmail(letter.email);
    // When the address belongs to another account, no mail is sent, and the requester gets no hint of that.
    if (other && other._id !== account._id) return null;
  }
  const kind: ProofKind = letter.kind;
  const proof = { kind, hash: proofHash(secrets, kind, delivery._id), email: letter.email, expires_at };
  return {
    to: to(account.name),
    about,
    prepare: () => addProof(account._id, account.email, proof, delivery.created_at),
    token: () => proofToken(secrets, kind, delivery._id),
  };
}

/**
 * Subject and text of a mail with its link. `hidden`: a placeholder that replaces the token. `via`: the server that
 * sends the mail.
 */
export function wordsOf(
  { about, token }: Letter,
  { publicUrl, via, hidden }: { publicUrl: string; via: MailVia; hidden?: string },
): { subject: string; text: string } {
  const purpose = purposeOf(about.kind);
  if (purpose === undefined) return accountMailText(about, '');
  return accountMailText(about, linkOf(publicUrl, purpose, hidden ?? token(via)));
}
