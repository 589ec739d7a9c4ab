/**
 * Writes account mails at the time of sending: the receiver, the text, and the link. The hash of the link's token is
 * stored just before the mail is sent. Only here it is checked whether the account exists, so that the person who
 * requested the mail cannot find out.
 */
import type { Letter } from '../../providers/base/sender.ts';
import type { MailVia } from '../../providers/mail/settings.ts';
import { findInvitation } from '../../models/access/invitation.ts';
import { findOrganization } from '../../models/access/organization.ts';
import { proofHash, proofToken, storedProofToken } from '../../models/access/prooftoken.ts';
import { addProof, findUser, findUserByEmail } from '../../models/access/user.ts';
import type { SecretBox } from '../../models/base/secretbox.ts';
import type { Delivery } from '../../models/events/delivery.ts';
import { mailUse } from '../../models/events/outsidemail.ts';
import { linkOf, proofMs, type ProofKind } from '../../models/rules/access/account.ts';
import { accountMailText, type AccountLetter } from '../../models/rules/access/accountmail.ts';
import { mayAdd } from '../../models/rules/access/roles.ts';
import { DeliveryRefused } from '../../models/rules/events/delivery.ts';
import { nameOf, type Mailbox } from '../../models/rules/access/mailbox.ts';
import { hiddenLink } from '../../models/rules/events/notification.ts';

/**
 * Writes the mail of a delivery; null when nobody is to get it. @throws DeliveryRefused when the invitation or the link
 * has expired.
 */
export async function letterOf(
  delivery: Pick<Delivery, '_id' | 'org_id' | 'created_at' | 'redeliveries'>,
  letter: AccountLetter,
  { secrets, publicUrl, now }: { secrets: SecretBox; publicUrl: string; now: Date },
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
    // An organization can read the mails of its own mail server. So the token in such a mail must not prove that the
    // invited person owns the address.
    const token = (via: MailVia): string =>
      via === 'organization'
        ? storedProofToken(secrets, 'invitation_link', _id, link_hash)
        : storedProofToken(secrets, 'invitation', _id, hash);
    return {
      to: to(''),
      words: ({ via, shown }) =>
        accountMailText(about, linkOf(publicUrl, 'invitation', shown ? hiddenLink : token(via))),
      // The API request has counted this mail against the limits already. The same `use` (idempotency key) prevents a
      // second count.
      outside: { organization: org.name, why: 'invitation', account: invited_by, use: mailUse(_id, delivery) },
    };
  }
  const account = 'user_id' in letter ? await findUser(letter.user_id) : await findUserByEmail(letter.email);
  if (!account) return null;
  const about = { kind: letter.kind, name: account.name } as const;
  if (letter.kind === 'password_changed' || letter.kind === 'email_changed')
    return { to: to(account.name), words: () => accountMailText(about) };
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
    words: ({ shown }) =>
      accountMailText(about, linkOf(publicUrl, kind, shown ? hiddenLink : proofToken(secrets, kind, delivery._id))),
    prepare: () => addProof(account._id, account.email, proof, delivery.created_at),
  };
}
