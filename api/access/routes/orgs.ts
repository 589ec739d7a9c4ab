import { jwt, member } from '../auth.ts';
import * as contract from '../contract/orgs.ts';
import { afterPlace, paged, placedListPage } from '../../http/cursor.ts';
import { invite, viewInvitation } from '../inviting.ts';
import { route, withStatus } from '../../http/route.ts';
import { takeOut } from '../departure.ts';
import { newId } from '../../../models/base/ids.ts';
import type { Key } from '../../../models/access/key.ts';
import {
  addMember,
  changeRole,
  createOrganization,
  hasLeft,
  listOrganizationsOf,
  newOrganization,
  type Member,
  type Organization,
} from '../../../models/access/organization.ts';
import { hereOf } from '../../../models/access/here.ts';
import { normalizeEmail } from '../../../models/rules/access/email.ts';
import { Problem, sought } from '../../../models/rules/base/errors.ts';
import { checkAdding, checkKeepingKeys, type Role } from '../../../models/rules/access/roles.ts';
import { findUser, findUserByEmail, listUsers, type User } from '../../../models/access/user.ts';

const view = (org: Organization, role: Role) => ({ ...org, org_id: org._id, role });

/** A member for a reply. The fields are named one by one, because an account also has secrets, such as hashes. */
const memberView = ({ _id, email, email_verified, name, picture }: User, { role, joined_at }: Member) => ({
  userId: _id,
  email,
  email_verified,
  name,
  picture,
  role,
  joined_at,
});

/** A member's position in the list: when they joined, and their id. */
const placeOf = ({ joined_at, user_id }: Member): string => `${joined_at.getTime()} ${user_id}`;

const keyMade = ({ _id, name, token_prefix }: Key) => ({ key_id: _id, name, token_prefix });

export const orgRoutes = [
  route(contract.createOrganization, {
    summary: 'Create an organization, in the sandbox, with you as its owner.',
    auth: jwt,
    status: 201,
    limit: 'accounts',
    async handle({ body, principal }, ctx) {
      const org = newOrganization(newId('org'), body.name, principal.userId, ctx.clock());
      await createOrganization(org);
      return view(org, 'owner');
    },
  }),
  route(contract.listOrganizations, {
    summary: 'The organizations you belong to, newest first.',
    auth: jwt,
    async handle({ query, principal }) {
      const { entries, cursor } = await paged(query, (limit, after) =>
        listOrganizationsOf(principal.userId, limit, after),
      );
      // The query returns only the caller's own entry of `members`.
      return { organizations: entries.map((org) => view(org, org.members[0]!.role)), cursor };
    },
  }),
  route(contract.getOrganization, {
    summary: 'One organization.',
    auth: member(),
    async handle({ principal }) {
      return view(principal.org, principal.role);
    },
  }),
  route(contract.listMembers, {
    summary: 'All members, in the order they joined.',
    auth: member(),
    async handle({ query, principal: { org } }, ctx) {
      const after = afterPlace(query.cursor, /^\d{13} usr_[0-9A-Z]{26}$/);
      const found = org.members
        .filter((entry) => after === undefined || placeOf(entry) > after)
        .toSorted((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1));
      const { entries, cursor } = placedListPage(found, query.limit ?? found.length, placeOf);
      const here = await hereOf(org, ctx.clock());
      const users = new Map((await listUsers(entries.map((m) => m.user_id))).map((user) => [user._id, user]));
      const members = entries.flatMap((entry) => {
        const user = users.get(entry.user_id);
        return user
          ? [{ ...memberView(user, entry), state: here.includes(user._id) ? ('here' as const) : ('away' as const) }]
          : [];
      });
      return { members, count: org.members.length, cursor };
    },
  }),
  route(contract.addMember, {
    summary:
      'Add somebody whose account has a proven address; anybody else, and whoever left by themselves or objected to mails, is invited (202). Only an owner makes an owner.',
    auth: member('admin'),
    status: 201,
    otherStatuses: [202],
    errors: ['ALREADY_MEMBER', 'CONFLICT'],
    async handle({ body, principal }, ctx) {
      const { orgId, org, userId } = principal;
      // The role is checked before the account is looked up, so that a member who may not add anybody learns nothing
      // about the account.
      checkAdding(principal.role, body.role);
      const user = await findUserByEmail(normalizeEmail(body.email));
      // Three kinds of persons are invited instead of added. An unverified address identifies nobody, because anybody
      // can register it. A person who left by their own act must consent to come back. A person who opted out of mails
      // must consent, because members are mailed.
      if (!user?.email_verified || hasLeft(org, user._id) || (await ctx.hooks.hasOptedOut(ctx, orgId, user.email))) {
        const { invitation, ...rest } = await invite(ctx, principal, body);
        return withStatus(202, { invitation: viewInvitation(invitation, ctx.clock()), ...rest });
      }
      if (org.members.some(({ user_id }) => user_id === user._id)) throw new Problem('ALREADY_MEMBER');
      const entry = { user_id: user._id, role: body.role, joined_at: ctx.clock() };
      // A new member gets the organization's mails without being asked. So an addition counts like a mailed invitation,
      // once a day for each person, and nobody is added to many organizations in a day.
      const mail = { orgId, address: user.email, account: userId, use: `${orgId}:${user._id}` };
      await ctx.hooks.countOutside(ctx, mail, entry.joined_at);
      await addMember(orgId, userId, entry);
      return { member: memberView(user, entry) };
    },
  }),
  route(contract.changeRole, {
    summary: 'Give a member another role. Only owners do, and one owner stays.',
    auth: member(),
    errors: ['LAST_OWNER'],
    async handle({ params: { orgId, userId }, body: { role }, principal }) {
      const entry = await changeRole(orgId, principal.userId, userId, role);
      return { member: memberView(await sought(findUser(userId), 'member'), entry) };
    },
  }),
  route(contract.removeMember, {
    summary: 'Take somebody out, or leave. The last owner stays. The keys that the member made are revoked.',
    auth: member(),
    limit: 'none',
    errors: ['LAST_OWNER'],
    async handle({ params: { userId }, query, principal }, ctx) {
      const keep = query.keep_keys === 'true';
      if (keep) checkKeepingKeys({ id: principal.userId, role: principal.role }, userId);
      const { revoked, kept } = await takeOut(ctx, principal, userId, keep ? principal.userId : undefined);
      return {
        userId,
        removed: true as const,
        revoked_keys: revoked.map(keyMade),
        kept_keys: kept.map(keyMade),
      };
    },
  }),
];
