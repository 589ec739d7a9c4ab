/** Zod schemas of the requests and replies about one's own account and about invitations. */
import { z } from 'zod';
import { email, membership, newPassword, password } from './auth.ts';
import { cursor, id, line, pageQuery, timestamp } from '../../base/contract/common.ts';
import { invitationStatuses } from '../../../models/rules/access/account.ts';
import { roles } from '../../../models/rules/access/roles.ts';
import { operation } from '../../base/contract/operation.ts';
import { profile } from './profile.ts';
import { loginReply } from './auth.ts';

export { pageQuery };

const token = z.string().min(1).max(200).meta({ description: 'What stands behind `=` in the link of the mail.' });

const forgotBody = z.strictObject({ email });
const acceptedReply = z.object({ accepted: z.literal(true) });
const resetBody = z.strictObject({ token, password: newPassword });
const resetReply = z.object({ reset: z.literal(true) });
export const signedOutReply = z.object({ signed_out: z.literal(true) });
const changeEmailBody = z.strictObject({ email, password });
const confirmBody = z.strictObject({ token });

const role = z.enum(roles);
export const invitation = z
  .object({
    invitation_id: id,
    org_id: id,
    email: z.string(),
    role,
    status: z.enum(invitationStatuses),
    invited_by: id,
    created_at: timestamp,
    expires_at: timestamp,
    accepted_by: id.optional(),
    joined_at: timestamp.optional(),
  })
  .meta({ id: 'Invitation' });
const inviteBody = z.strictObject({ email, role });
const invitationReply = z.object({ invitation });
export const invitationLink = z.string().optional().meta({
  description:
    'Where no mail can be sent, or the person refuses such mails: the link to hand over, shown this once. It proves no address.',
});
const invitedReply = z.object({ invitation, link: invitationLink });
const invitationList = z.object({ invitations: z.array(invitation), cursor });

const invitationToken = z.strictObject({ token });
/** What a person with an invitation's link sees before accepting the invitation. */
const invitationSeen = z.object({
  org_name: z.string(),
  email: z.string(),
  role,
  invited_by_name: z.string(),
  expires_at: timestamp,
});
const joinedReply = z.object({ organization: membership });
const registerInvitedBody = z.strictObject({ token, name: line(100), password: newPassword });

export const forgotPassword = operation('forgotPassword', 'POST /auth/password/forgot', {
  body: forgotBody,
  reply: acceptedReply,
});
export const resetPassword = operation('resetPassword', 'POST /auth/password/reset', {
  body: resetBody,
  reply: resetReply,
});
export const endLogins = operation('endLogins', 'POST /auth/logout-everywhere', { reply: signedOutReply });
export const changeEmail = operation('changeEmail', 'POST /auth/email', {
  body: changeEmailBody,
  reply: acceptedReply,
});
export const confirmEmail = operation('confirmEmail', 'POST /auth/email/confirm', {
  body: confirmBody,
  reply: profile,
});
export const inviteMember = operation('inviteMember', 'POST /orgs/{orgId}/invitations', {
  body: inviteBody,
  reply: invitedReply,
});
export const listInvitations = operation('listInvitations', 'GET /orgs/{orgId}/invitations', {
  query: pageQuery,
  reply: invitationList,
});
export const revokeInvitation = operation('revokeInvitation', 'DELETE /orgs/{orgId}/invitations/{invitationId}', {
  reply: invitationReply,
});
export const seeInvitation = operation('seeInvitation', 'POST /auth/invitations/see', {
  body: invitationToken,
  reply: invitationSeen,
});
export const acceptInvitation = operation('acceptInvitation', 'POST /auth/invitations/accept', {
  body: invitationToken,
  reply: joinedReply,
});
export const registerInvited = operation('registerInvited', 'POST /auth/invitations/register', {
  body: registerInvitedBody,
  reply: loginReply,
});
