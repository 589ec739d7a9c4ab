import { z } from 'zod';
import { invitation, invitationLink } from './accounts.ts';
import { email } from './auth.ts';
import { cursor, id, line, pageQuery, timestamp } from '../../base/contract/common.ts';
import { environments } from '../../../models/rules/access/keys.ts';
import { memberStates, roles } from '../../../models/rules/access/roles.ts';
import { operation } from '../../base/contract/operation.ts';

const role = z.enum(roles);

export const organization = z
  .object({
    org_id: id,
    name: z.string(),
    environment: z.enum(environments),
    role: role.meta({ description: 'Yours in it.' }),
    created_at: timestamp,
  })
  .meta({ id: 'Organization' });
export const member = z
  .object({
    userId: id,
    email: z.string(),
    email_verified: z.boolean().meta({
      description: 'Whether an identity provider, or a mail that was sent there, has proven that it is theirs.',
    }),
    name: z.string(),
    picture: z.string().optional(),
    role,
    joined_at: timestamp,
  })
  .meta({ id: 'Member' });

const memberState = z.enum(memberStates).meta({ description: '`here`: connected, and has not said to be away.' });

export const createBody = z.strictObject({ name: line(100) });
export const listReply = z.object({ organizations: z.array(organization), cursor });
const membersQuery = pageQuery.extend({
  limit: pageQuery.shape.limit.meta({ description: 'Members a page, at most 100; all unless told.' }),
});
const memberList = z.object({
  members: z.array(member.extend({ state: memberState })),
  count: z.number().int(),
  cursor,
});
const addMemberBody = z.strictObject({ email, role });
const changeRoleBody = z.strictObject({ role });
const memberReply = z.object({ member });
const addedReply = z.object({
  member: member.optional().meta({ description: 'With 201: the account had a proven address, and belongs to it now.' }),
  invitation: invitation.optional().meta({
    description:
      'With 202: nobody has proven the address, or has an account of it, or its owner has left the organization or objected to mails, so it was invited.',
  }),
  link: invitationLink,
});
const removeMemberQuery = z.object({
  keep_keys: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: 'With `true` the keys that the member made become yours and stay valid. For an owner.' }),
});
const keysMade = z.array(z.object({ key_id: id, name: z.string(), token_prefix: z.string() }));
export const removedReply = z.object({
  userId: id,
  removed: z.literal(true),
  revoked_keys: keysMade.meta({ description: 'Keys that the member made, which nothing accepts any more.' }),
  kept_keys: keysMade.meta({ description: 'Keys that the member made, which are yours now (`keep_keys`).' }),
});

export type Member = z.output<typeof member>;

export const createOrganization = operation('createOrganization', 'POST /orgs', {
  body: createBody,
  reply: organization,
});
export const listOrganizations = operation('listOrganizations', 'GET /orgs', { query: pageQuery, reply: listReply });
export const getOrganization = operation('getOrganization', 'GET /orgs/{orgId}', { reply: organization });
export const listMembers = operation('listMembers', 'GET /orgs/{orgId}/members', {
  query: membersQuery,
  reply: memberList,
});
export const addMember = operation('addMember', 'POST /orgs/{orgId}/members', {
  body: addMemberBody,
  reply: addedReply,
});
export const changeRole = operation('changeRole', 'PATCH /orgs/{orgId}/members/{userId}', {
  body: changeRoleBody,
  reply: memberReply,
});
export const removeMember = operation('removeMember', 'DELETE /orgs/{orgId}/members/{userId}', {
  query: removeMemberQuery,
  reply: removedReply,
});
