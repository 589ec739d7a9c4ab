/**
 * Invitations to an organization. Each is mailed to one address and is valid for the person who proves to own this
 * address. An invitation is accepted by one atomic write, before the person becomes a member. If the process crashes
 * between these two steps, the person can accept again, because `joined_at` is not set.
 */
import { againIfDuplicate, unlessDuplicate } from '../base/connect.ts';
import { changerOf, collectionOf, defineModel, finderOf, newest, olderThan, type RecordOf } from '../base/define.ts';
import { date, oneOf, optional, string } from '../rules/base/fields.ts';
import { invitationStatuses } from '../rules/access/account.ts';
import { roles } from '../rules/access/roles.ts';
import { expiryOf } from '../rules/base/retention.ts';

const InvitationModel = defineModel(
  'Invitation',
  'invitations',
  {
    _id: string,
    org_id: string,
    /** The invited address, normalized like the addresses of accounts. */
    email: string,
    role: oneOf(roles),
    status: oneOf(invitationStatuses),
    /**
     * SHA-256 (hexadecimal) of the token in mails that the deployment's own mail server sends. The organization cannot
     * read this token, so it proves that the person owns the address.
     */
    hash: string,
    /**
     * SHA-256 (hexadecimal) of the token that the organization can read, because its own mail server sends it or a
     * member copies the link. So this token does not prove that the person owns the address.
     */
    link_hash: string,
    /**
     * The inviting member; when the invitation is accepted, this member must still be allowed to add members with this
     * role.
     */
    invited_by: string,
    created_at: date,
    expires_at: date,
    accepted_by: optional(string),
    joined_at: optional(date),
    /** When the record is deleted. */
    removed_at: date,
  },
  [
    { fields: { org_id: 1, _id: -1 } },
    { fields: { hash: 1 }, unique: true },
    { fields: { link_hash: 1 }, unique: true },
    // This index allows at most one pending invitation per address and organization.
    { fields: { org_id: 1, email: 1 }, unique: true, partialFilterExpression: { status: 'pending' } },
    { fields: { removed_at: 1 }, expireAfterSeconds: 0 },
  ],
);
export type Invitation = RecordOf<typeof InvitationModel>;

const invitations = () => collectionOf(InvitationModel);

/** Stores an invitation and revokes the pending one to the same address. */
export async function replaceInvitation(
  invitation: Omit<Invitation, 'status' | 'removed_at' | 'accepted_by' | 'joined_at'>,
): Promise<Invitation> {
  const { org_id, email, expires_at } = invitation;
  const record: Invitation = {
    ...invitation,
    status: 'pending',
    removed_at: expiryOf('invitations', expires_at),
  };
  // If another member invites the same address at the same time, the insert fails as a duplicate, and both writes are
  // repeated.
  await againIfDuplicate(async () => {
    await invitations().updateMany({ org_id, email, status: 'pending' }, { $set: { status: 'revoked' } });
    await invitations().insertOne(record);
  });
  return record;
}

/** The invitations of an organization, newest first; `before` is the last id of the previous page. */
export async function listInvitations(orgId: string, limit: number, before?: string): Promise<Invitation[]> {
  return newest(invitations().find({ org_id: orgId, ...olderThan(before) }), limit);
}

export const findInvitation = finderOf(InvitationModel);
const change = changerOf(InvitationModel);

const ofToken = (hash: string) => ({ $or: [{ hash }, { link_hash: hash }] });
const open = (hash: string, now: Date) => ({
  ...ofToken(hash),
  status: 'pending' as const,
  expires_at: { $gt: now },
});

/**
 * The invitation with this token; null when no invitation has the token, or when it is no longer pending or has
 * expired.
 */
export async function findOpenInvitation(hash: string, now: Date): Promise<Invitation | null> {
  return invitations().findOne(open(hash, now));
}

/** Revokes an invitation; null when it is not pending or has expired. */
export const revokeInvitation = (orgId: string, invitationId: string, now: Date) =>
  change(orgId, invitationId, { $set: { status: 'revoked' } }, { status: 'pending', expires_at: { $gt: now } });

/**
 * Accepts the invitation for this person. Null when the invitation is no longer pending, has expired, or was sent to
 * another address. When the person accepted an invitation before a crash, without becoming a member, the same
 * invitation is returned again until it expires.
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
      expires_at: { $gt: now },
    }))
  );
}

/**
 * Stores that the accepting person has become a member. `status` is set again, because the inviter's removal may have
 * revoked the invitation meanwhile.
 */
export async function finishInvitation(invitationId: string, now: Date): Promise<void> {
  await invitations().updateOne({ _id: invitationId }, { $set: { status: 'accepted', joined_at: now } });
}

/** Revokes an accepted invitation whose inviter may not add the person any more, so that it cannot be used later. */
export async function refuseInvitation(invitationId: string): Promise<void> {
  await invitations().updateOne({ _id: invitationId, joined_at: { $exists: false } }, { $set: { status: 'revoked' } });
}

/**
 * Makes an accepted invitation pending again, because the organization is full. So the invitation can be revoked,
 * replaced, or accepted later. If another invitation to the same address was sent meanwhile, this invitation is revoked
 * instead.
 */
export async function reopenInvitation(invitationId: string): Promise<void> {
  const unfinished = { _id: invitationId, status: 'accepted' as const, joined_at: { $exists: false } };
  const pending = { $set: { status: 'pending' as const }, $unset: { accepted_by: '' as const } };
  const reopened = await unlessDuplicate(() => invitations().updateOne(unfinished, pending));
  if (!reopened) await invitations().updateOne(unfinished, { $set: { status: 'revoked' } });
}

/**
 * Revokes the unfinished invitations that a removed member received or sent. Otherwise an old mail could make the
 * person a member again. An invitation that the person received after `leftAt` stays, because the sender wants the
 * person back.
 */
export async function endInvitationsOf(
  orgId: string,
  { userId, email, leftAt }: { userId: string; email: string | undefined; leftAt: Date },
) {
  const received = { created_at: { $lte: leftAt } };
  await invitations().updateMany(
    {
      org_id: orgId,
      joined_at: { $exists: false },
      $or: [
        { accepted_by: userId, ...received },
        { invited_by: userId },
        ...(email === undefined ? [] : [{ email, status: 'pending' as const, ...received }]),
      ],
    },
    { $set: { status: 'revoked' } },
  );
}
