/** Routes of invitations: create one for an e-mail address, and accept it by its link. */
import { jwt, member, open } from '../auth.ts';
import { login, newUser, passwords } from '../people.ts';
import type { Context } from '../../context.ts';
import * as contract from '../contract/accounts.ts';
import { invite, viewInvitation } from '../inviting.ts';
import { paged } from '../../http/cursor.ts';
import { route } from '../../http/route.ts';
import { isDuplicate } from '../../../models/base/connect.ts';
import {
  findOpenInvitation,
  finishInvitation,
  listInvitations,
  refuseInvitation,
  reopenInvitation,
  revokeInvitation,
  takeInvitation,
  type Invitation,
} from '../../../models/access/invitation.ts';
import { hashToken } from '../../../models/access/key.ts';
import { addMember, findOrganization, type Organization } from '../../../models/access/organization.ts';
import { createUser, findUser, verifyEmail, type User } from '../../../models/access/user.ts';
import { deadLink } from '../../../models/rules/access/account.ts';
import { mayAdd } from '../../../models/rules/access/roles.ts';
import { Problem, sought } from '../../../models/rules/base/errors.ts';

/**
 * Makes the user who accepted an invitation a member, if the inviter may still add people. Otherwise the invitation is
 * revoked, so that it does not become valid again when the inviter regains the role. When the organization is full, the
 * invitation becomes pending again. A user who already is a member keeps their role.
 */
async function join(ctx: Context, { _id, org_id, role, invited_by }: Invitation, user: User) {
  const now = ctx.clock();
  const entry = { user_id: user._id, role, joined_at: now };
  await addMember(org_id, invited_by, entry, { consents: true }).catch(async (error: unknown) => {
    if (!(error instanceof Problem)) throw error;
    if (['MISSING_ROLE', 'NOT_FOUND'].includes(error.code)) {
      await refuseInvitation(_id);
      throw deadLink();
    }
    if (error.code === 'CONFLICT') await reopenInvitation(_id);
    if (error.code !== 'ALREADY_MEMBER') throw error;
  });
  await finishInvitation(_id, now);
  const org = await findOrganization(org_id);
  const own = org?.members.find(({ user_id }) => user_id === user._id);
  if (!org || !own) throw deadLink();
  return { organization: { org_id, name: org.name, role: own.role } };
}

/** An invitation that can be accepted, and its organization. @throws Problem LINK_OVER */
async function opened(ctx: Context, token: string): Promise<{ invitation: Invitation; org: Organization }> {
  const invitation = await findOpenInvitation(hashToken(token), ctx.clock());
  const org = invitation && (await findOrganization(invitation.org_id));
  const inviter = org?.members.find(({ user_id }) => user_id === invitation?.invited_by);
  if (!invitation || !org || !inviter || !mayAdd(inviter.role, invitation.role)) throw deadLink();
  return { invitation, org };
}

/**
 * Whether the link proves that its holder owns the invited mailbox. `hash` is the hash of the token in the mailed link.
 * The token in the link that an inviter passes on has the hash `link_hash`.
 */
const provesAddress = ({ hash }: Invitation, token: string): boolean => hash === hashToken(token);

export const invitationRoutes = [
  route(contract.inviteMember, {
    summary:
      'Invite somebody, with or without an account, by mail or by the `link` of the answer. A later one of the address replaces it.',
    auth: member('admin'),
    status: 201,
    errors: ['ALREADY_MEMBER'],
    async handle({ body, principal }, ctx) {
      const { invitation, ...rest } = await invite(ctx, principal, body);
      return { invitation: viewInvitation(invitation, ctx.clock()), ...rest };
    },
  }),
  route(contract.listInvitations, {
    summary: 'Invitations and what became of them, the newest first.',
    auth: member('admin'),
    async handle({ query, principal: { orgId } }, ctx) {
      const { entries, cursor } = await paged(query, (limit, after) => listInvitations(orgId, limit, after));
      return { invitations: entries.map((entry) => viewInvitation(entry, ctx.clock())), cursor };
    },
  }),
  route(contract.revokeInvitation, {
    summary: 'Take an invitation back: its link is over at once.',
    auth: member('admin'),
    async handle({ params: { orgId, invitationId } }, ctx) {
      const revoking = revokeInvitation(orgId, invitationId, ctx.clock());
      const revoked = await sought(revoking, 'invitation that could be accepted');
      return { invitation: viewInvitation(revoked, ctx.clock()) };
    },
  }),
  route(contract.seeInvitation, {
    summary:
      'What the invitation of a link is about. It changes nothing; the token is in the body, so that no log holds it.',
    auth: open,
    limit: 'accounts',
    asksOnly: true,
    errors: ['LINK_OVER'],
    async handle({ body }, ctx) {
      const { invitation, org } = await opened(ctx, body.token);
      const { email, role, expires_at, invited_by } = invitation;
      const inviter = await findUser(invited_by);
      return { org_name: org.name, email, role, invited_by_name: inviter?.name ?? org.name, expires_at };
    },
  }),
  route(contract.acceptInvitation, {
    summary: 'Join with your account, whose address is the invited one.',
    auth: jwt,
    limit: 'accounts',
    errors: ['LINK_OVER', 'CONFLICT'],
    async handle({ body: { token }, principal: { userId } }, ctx) {
      const user = await findUser(userId);
      if (!user) throw new Problem('UNAUTHENTICATED');
      const taken = await takeInvitation(hashToken(token), { userId, email: user.email }, ctx.clock());
      if (!taken) throw deadLink();
      if (provesAddress(taken, token)) await verifyEmail(userId, user.email);
      return join(ctx, taken, user);
    },
  }),
  route(contract.registerInvited, {
    summary: 'Create an account of the invited address, join with it, and log in.',
    auth: open,
    status: 201,
    limit: 'accounts',
    errors: ['LINK_OVER', 'EMAIL_TAKEN', 'CONFLICT'],
    async handle({ body: { token, name, password } }, ctx) {
      const { invitation } = await opened(ctx, token);
      const { email } = invitation;
      const password_hash = await passwords(ctx.config).hash(password);
      const user = newUser(ctx, {
        email,
        email_verified: provesAddress(invitation, token),
        name,
        identities: [],
        password_hash,
      });
      await createUser(user).catch((error: unknown) => {
        if (!isDuplicate(error)) throw error;
        const message = 'There is an account of this e-mail; log in with it and accept the invitation.';
        throw new Problem('EMAIL_TAKEN', { message });
      });
      const taken = await takeInvitation(hashToken(token), { userId: user._id, email }, ctx.clock());
      if (!taken) throw deadLink();
      await join(ctx, taken, user);
      return login(ctx, user);
    },
  }),
];
