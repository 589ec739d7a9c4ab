/** The commands of `members`: an organization's members and invitations. */
import { command, listing, noun } from '../described.ts';
import * as accounts from '../../api/access/contract/accounts.ts';
import * as orgs from '../../api/access/contract/orgs.ts';

export const members = noun({
  name: 'members',
  description: 'list, invite and remove members of an organization, and change their roles',
  login: true,
  commands: [
    listing({
      name: 'list',
      description: 'list the members',
      does: orgs.listMembers,
      entries: 'members',
      columns: {
        MEMBER: (one) => one.userId,
        ROLE: (one) => one.role,
        JOINED: (one) => one.joined_at,
        'E-MAIL': (one) => one.email,
        NAME: (one) => one.name,
      },
      none: 'There are no members.',
    }),
    command({
      name: 'invite',
      description: 'invite somebody by e-mail',
      examples: ['invite ada@example.com member'],
      does: accounts.inviteMember,
      args: { email: 'their e-mail address', role: 'what they may do' },
      lines: ({ invitation, link }) => [
        `Invited ${invitation.email} as ${invitation.role}, until ${invitation.expires_at}: ${invitation.invitation_id}`,
        ...(link === undefined ? [] : [`No mail was sent; hand this link over: ${link}`]),
      ],
    }),
    listing({
      name: 'invitations',
      description: 'list invitations, newest first',
      does: accounts.listInvitations,
      entries: 'invitations',
      columns: {
        INVITATION: (one) => one.invitation_id,
        STATUS: (one) => one.status,
        ROLE: (one) => one.role,
        EXPIRES: (one) => one.expires_at,
        'E-MAIL': (one) => one.email,
      },
      none: 'Nobody is invited.',
    }),
    command({
      name: 'uninvite',
      description: 'take an invitation back',
      examples: ['uninvite inv_01M7YGT1Y2M8Q0Z6V3C4K5R7XA'],
      does: accounts.revokeInvitation,
      args: { invitationId: 'its identifier; members invitations shows it' },
      lines: ({ invitation }) => [`${invitation.email} is no longer invited`],
    }),
    command({
      name: 'role',
      description: 'change the role of a member',
      examples: ['role usr_01M7YGT1Y2M8Q0Z6V3C4K5R7XA admin'],
      does: orgs.changeRole,
      args: { userId: 'a user id; members list shows it', role: 'what they may do' },
      lines: ({ member }) => [`${member.email} is ${member.role}`],
    }),
    command({
      name: 'remove',
      description: 'remove a member, or yourself; the keys that they made are revoked',
      examples: ['remove usr_01M7YGT1Y2M8Q0Z6V3C4K5R7XA', 'remove usr_01M7YGT1Y2M8Q0Z6V3C4K5R7XA --keep-keys true'],
      does: orgs.removeMember,
      args: { userId: 'a user id; members list shows it' },
      lines: ({ userId, revoked_keys, kept_keys }) => [
        `Removed ${userId}`,
        ...revoked_keys.map(({ key_id, name }) => `  revoked ${key_id}  ${name}`),
        ...kept_keys.map(({ key_id, name }) => `  yours now ${key_id}  ${name}`),
      ],
    }),
  ],
});
