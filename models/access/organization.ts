/**
 * Organizations, the tenants. Members are stored inside the record, so that one atomic update can enforce the rule that
 * an organization always has an owner.
 */
import type { mongo } from 'mongoose';
import { collectionOf, defineModel, everyRecord, newest, olderThan, type RecordOf } from '../base/define.ts';
import { date, embedded, flag, list, mixed, oneOf, optional, string, type ValueOf } from '../rules/base/fields.ts';
import { environments, type Environment } from '../rules/access/keys.ts';
import type { Hours } from '../rules/access/hours.ts';
import { tagColours } from '../rules/access/tags.ts';
import {
  checkAdding,
  checkRemoval,
  checkRoleChange,
  hasRole,
  maxLeft,
  maxMembers,
  roles,
  type Role,
} from '../rules/access/roles.ts';
import { noSuch, Problem } from '../rules/base/errors.ts';

const member = embedded({
  user_id: string,
  role: oneOf(roles),
  joined_at: date,
  /** True when the member has set themselves to away. Such a member is not present (`hereOf`), even while connected. */
  away: flag,
});
export type Member = ValueOf<typeof member>;

const tag = embedded({ name: string, colour: oneOf(tagColours) });
export type Tag = ValueOf<typeof tag>;

export const OrganizationModel = defineModel(
  'Organization',
  'organizations',
  {
    _id: string,
    name: string,
    environment: oneOf(environments),
    members: list(member),
    /**
     * The user ids of those who left by their own act, the latest last. They become members again only by accepting an
     * invitation.
     */
    left: optional(list(string)),
    /** The tags that the team uses, in the order in which the team's lists show them. */
    tags: optional(list(tag)),
    /** When the team answers; absent: at any time. */
    hours: optional(mixed<Hours>()),
    created_at: date,
  },
  [{ fields: { 'members.user_id': 1, _id: 1 } }],
);
export type Organization = RecordOf<typeof OrganizationModel>;

export async function findOrganization(orgId: string): Promise<Organization | null> {
  return collectionOf(OrganizationModel).findOne({ _id: orgId });
}

export async function setOrganizationTags(orgId: string, tags: Tag[]): Promise<void> {
  await collectionOf(OrganizationModel).updateOne({ _id: orgId }, { $set: { tags } });
}

export async function setOrganizationHours(orgId: string, hours: Hours | undefined): Promise<void> {
  const update = hours ? { $set: { hours } } : { $unset: { hours: '' as const } };
  await collectionOf(OrganizationModel).updateOne({ _id: orgId }, update);
}

/** The organizations with these ids, in no particular order; unknown ids are left out. */
export async function listOrganizations(orgIds: readonly string[]): Promise<Organization[]> {
  return collectionOf(OrganizationModel)
    .find({ _id: { $in: [...orgIds] } })
    .toArray();
}

export async function createOrganization(organization: Organization): Promise<void> {
  await OrganizationModel.create(organization);
}

export function newOrganization(orgId: string, name: string, ownerId: string, now: Date): Organization {
  return {
    _id: orgId,
    name,
    environment: 'sandbox',
    members: [{ user_id: ownerId, role: 'owner', joined_at: now }],
    created_at: now,
  };
}

/**
 * The organizations of a user, newest first; `before` is the last id of the previous page. The `members` of each
 * returned organization contain only this user.
 */
export async function listOrganizationsOf(userId: string, limit: number, before?: string): Promise<Organization[]> {
  const which = { 'members.user_id': userId, ...olderThan(before) };
  const projection = { name: 1, environment: 1, created_at: 1, members: { $elemMatch: { user_id: userId } } };
  return newest(collectionOf(OrganizationModel).find(which, { projection }), limit);
}

/**
 * The organizations whose name contains a text, in any case. Call this only for operators, because it reads every
 * organization.
 */
export async function findOrganizationsNamed(text: string, limit: number): Promise<Organization[]> {
  const found: Organization[] = [];
  for await (const organization of collectionOf(OrganizationModel).find({}, everyRecord)) {
    if (organization.name.toLowerCase().includes(text.toLowerCase())) found.push(organization);
    if (found.length === limit) break;
  }
  return found;
}

export async function setEnvironment(orgId: string, environment: Environment): Promise<void> {
  await collectionOf(OrganizationModel).updateOne({ _id: orgId }, { $set: { environment } });
}

/**
 * Changes the members on behalf of `actorId`. `decide` checks the members and returns the update and the member that it
 * concerns. Optimistic locking: the write only happens while the members that were checked are unchanged; otherwise
 * `decide` is called again. So when the last two owners leave at once, one stays.
 * @throws Problem NOT_FOUND when the actor is no longer a member.
 */
async function changeMembers(
  orgId: string,
  actorId: string,
  decide: (
    members: Member[],
    actor: Member,
    organization: Organization,
  ) => { update: mongo.UpdateFilter<Organization>; member: Member },
): Promise<Member> {
  for (;;) {
    const organization = await findOrganization(orgId);
    const members = organization?.members ?? [];
    const actor = members.find(({ user_id }) => user_id === actorId);
    if (!organization || !actor) throw noSuch('organization');
    const { update, member } = decide(members, actor, organization);
    const { matchedCount } = await collectionOf(OrganizationModel).updateOne({ _id: orgId, members }, update);
    if (matchedCount === 1) return member;
  }
}

/** Whether a user left the organization by their own act. */
export const hasLeft = ({ left = [] }: Organization, userId: string): boolean => left.includes(userId);

/**
 * Adds a member on behalf of `actorId`. `consents`: whether the person has accepted an invitation.
 * @throws Problem MISSING_ROLE, ALREADY_MEMBER, NOT_FOUND, CONFLICT (full, or the person left and does not consent).
 */
export const addMember = (
  orgId: string,
  actorId: string,
  member: Member,
  { consents = false }: { consents?: boolean } = {},
): Promise<Member> =>
  changeMembers(orgId, actorId, (members, actor, organization) => {
    const { user_id: userId } = member;
    checkAdding(actor.role, member.role);
    if (members.some(({ user_id }) => user_id === userId)) throw new Problem('ALREADY_MEMBER');
    if (members.length >= maxMembers)
      throw new Problem('CONFLICT', { message: `An organization may have ${maxMembers} members.` });
    if (!consents && hasLeft(organization, userId))
      throw new Problem('CONFLICT', { message: 'This person has left the organization; invite them.' });
    return { update: { $push: { members: member }, $pull: { left: userId } }, member };
  });

const ownersAmong = (members: readonly Member[]): number => members.filter(({ role }) => role === 'owner').length;

/**
 * Removes a member on behalf of `actorId`, who may be the same person. The same write records that a person left by
 * their own act.
 * @throws Problem MISSING_ROLE, LAST_OWNER, NOT_FOUND.
 */
export const removeMember = (orgId: string, actorId: string, userId: string): Promise<Member> =>
  changeMembers(orgId, actorId, (members, actor) => {
    const member = members.find(({ user_id }) => user_id === userId);
    if (!member) throw noSuch('member');
    checkRemoval({ id: actorId, role: actor.role }, { id: userId, role: member.role }, ownersAmong(members));
    const left = actorId === userId ? { $push: { left: { $each: [userId], $slice: -maxLeft } } } : {};
    return { update: { $pull: { members: { user_id: userId } }, ...left }, member };
  });

/**
 * Changes a member's role on behalf of `actorId`, who may be the same person.
 * @throws Problem MISSING_ROLE, LAST_OWNER, NOT_FOUND.
 */
export const changeRole = (orgId: string, actorId: string, userId: string, role: Role): Promise<Member> =>
  changeMembers(orgId, actorId, (members, actor) => {
    checkRoleChange(actor.role);
    const index = members.findIndex(({ user_id }) => user_id === userId);
    const member = members[index];
    if (!member) throw noSuch('member');
    if (member.role === 'owner' && role !== 'owner' && ownersAmong(members) <= 1) throw new Problem('LAST_OWNER');
    return { update: { $set: { [`members.${index}.role`]: role } }, member: { ...member, role } };
  });

/** Sets whether a member is away; false when the user is not a member. */
export async function setAway(orgId: string, userId: string, away: boolean): Promise<boolean> {
  const { matchedCount } = await collectionOf(OrganizationModel).updateOne(
    { _id: orgId, 'members.user_id': userId },
    away ? { $set: { 'members.$.away': true } } : { $unset: { 'members.$.away': '' } },
  );
  return matchedCount === 1;
}

export async function roleOf(orgId: string, userId: string): Promise<Role | undefined> {
  return (await findOrganization(orgId))?.members.find(({ user_id }) => user_id === userId)?.role;
}

/**
 * Whether a user has the rights of an admin now. Check again when the browser returns from an authorization at another
 * service, because the user may have lost the rights meanwhile.
 */
export async function isAdmin(orgId: string, userId: string): Promise<boolean> {
  const role = await roleOf(orgId, userId);
  return role !== undefined && hasRole(role, 'admin');
}

export async function organizationIdsOf(userId: string): Promise<string[]> {
  return collectionOf(OrganizationModel).distinct('_id', { 'members.user_id': userId });
}

/** The ids of all members of all organizations that a user belongs to, including the user. */
export async function colleagueIdsOf(userId: string): Promise<string[]> {
  return collectionOf(OrganizationModel).distinct('members.user_id', { 'members.user_id': userId });
}
