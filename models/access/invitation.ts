/**
 * Invitations into an organization, each sent to one address and good for whoever proves to have it. An invitation is taken by
 * one write before its person becomes a member; until that is noted (`joined_at`), the same person may finish it.
 */
import { isDuplicate } from '../base/connect.ts';
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { date, oneOf, optional, string } from '../rules/base/fields.ts';
import { invitationStatuses } from '../rules/access/account.ts';
import { roles } from '../rules/access/roles.ts';

/** How long what became of an invitation is shown after it is over. */
const shownMs = 90 * 86_400_000;

const InvitationModel = defineModel(
  'Invitation',
  'invitations',
  {
    _id: string,
    org_id: string,
    /** As accounts store it. */
    email: string,
    role: oneOf(roles),
    status: oneOf(invitationStatuses),
    /** SHA-256 of the token that the deployment's mail server sends, hexadecimal: it proves the address. */
    hash: string,
    /** SHA-256 of the token that the organization hands over, or sends by its own server: it does not. */
    link_hash: string,
    /** The member in whose name it stands: it is worth what that member may do when it is accepted. */
    invited_by: string,
    created_at: date,
    expires_at: date,
    accepted_by: optional(string),
    joined_at: optional(date),
    /** When the record is removed. */
    removed_at: date,
  },
  [
    { fields: { org_id: 1, _id: -1 } },
    { fields: { hash: 1 }, unique: true },
    { fields: { link_hash: 1 }, unique: true },
    // One that can be accepted an address and organization.
    { fields: { org_id: 1, email: 1 }, unique: true, partialFilterExpression: { status: 'pending' } },
    { fields: { removed_at: 1 }, expireAfterSeconds: 0 },
  ],
);
export type Invitation = RecordOf<typeof InvitationModel>;

const invitations = () => collectionOf(InvitationModel);

/** Stores an invitation in place of the one that this address has in this organization. */
export async function replaceInvitation(
  invitation: Omit<Invitation, 'status' | 'removed_at' | 'accepted_by' | 'joined_at'>,
): Promise<Invitation> {
  const { org_id, email, expires_at } = invitation;
  const record: Invitation = {
    ...invitation,
    status: 'pending',
    removed_at: new Date(expires_at.getTime() + shownMs),
  };
  for (;;) {
    await invitations().updateMany({ org_id, email, status: 'pending' }, { $set: { status: 'revoked' } });
    try {
      await invitations().insertOne(record);
      return record;
    } catch (error) {
      // Somebody else invited the same address at the same time.
      if (!isDuplicate(error)) throw error;
    }
  }
}

/** The newest first; `before` is the last id of the previous page. */
export async function listInvitations(orgId: string, limit: number, before?: string): Promise<Invitation[]> {
  return invitations()
    .find({ org_id: orgId, ...(before === undefined ? {} : { _id: { $lt: before } }) })
    .sort({ _id: -1 })
    .limit(limit)
    .toArray();
}

export async function findInvitation(orgId: string, invitationId: string): Promise<Invitation | null> {
  return invitations().findOne({ _id: invitationId, org_id: orgId });
}

const ofToken = (hash: string) => ({ $or: [{ hash }, { link_hash: hash }] });
const open = (hash: string, now: Date) => ({
  ...ofToken(hash),
  status: 'pending' as const,
  expires_at: { $gt: now },
});

/** The invitation of a token, while it can be accepted. */
export async function findOpenInvitation(hash: string, now: Date): Promise<Invitation | null> {
  return invitations().findOne(open(hash, now));
}

/** Takes it back. Null when there is none that can be accepted. */
export async function revokeInvitation(orgId: string, invitationId: string, now: Date): Promise<Invitation | null> {
  return invitations().findOneAndUpdate(
    { _id: invitationId, org_id: orgId, status: 'pending', expires_at: { $gt: now } },
    { $set: { status: 'revoked' } },
    { returnDocument: 'after' },
  );
}

/**
 * Takes the invitation for this person, who has the address that it was sent to. Null when it is over, or was sent to another
 * address. One that this person took before, and whose process died before it was finished, is returned again.
 */
export async function takeInvitation(
  hash: string,
  { userId, email }: { userId: string; email: string },
  now: Date,
): Promise<Invitation | null> {
  const taken = await invitations().findOneAndUpdate(
    { ...open(hash, now), email },
    { $set: { status: 'accepted', accepted_by: userId } },
    { returnDocument: 'after' },
  );
  return (
    taken ??
    (await invitations().findOne({
      ...ofToken(hash),
      status: 'accepted',
      accepted_by: userId,
      joined_at: { $exists: false },
    }))
  );
}

/** Its person is a member now. */
export async function finishInvitation(invitationId: string, now: Date): Promise<void> {
  await invitations().updateOne({ _id: invitationId }, { $set: { joined_at: now } });
}

/**
 * What waits for somebody who is taken out of the organization is over, so that nobody comes back by an old mail, and so is what
 * waits in their name.
 */
export async function endInvitationsOf(orgId: string, person: { userId: string; email?: string | undefined }) {
  const { userId, email } = person;
  await invitations().updateMany(
    {
      org_id: orgId,
      joined_at: { $exists: false },
      $or: [
        { accepted_by: userId },
        { invited_by: userId, status: 'pending' as const },
        ...(email === undefined ? [] : [{ email, status: 'pending' as const }]),
      ],
    },
    { $set: { status: 'revoked' } },
  );
}
