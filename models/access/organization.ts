/**
 * Organizations, the tenants. Members are stored inside the record, so that one atomic update can enforce the rule that
 * an organization always has an owner.
 */
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
  maxMembers,
  roles,
  type Role,
} from '../rules/access/roles.ts';
import { noSuch, Problem } from '../rules/base/errors.ts';

const member = embedded({
  user_id: string,
  role: oneOf(roles),
  joined_at: date,
  /** Whether the member has set themselves to away; this counts even while they have an open socket. */
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

/** Sets the hours in which the team answers; undefined: at any time. */
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

/** A new organization: in the sandbox, with its creator as the owner. */
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
 * Adds a member on behalf of `actorId`. Optimistic locking: the write only happens while the members that were checked
 * are unchanged; otherwise the function checks again.
 * @throws Problem MISSING_ROLE, ALREADY_MEMBER, CONFLICT (full), NOT_FOUND when the actor is no longer a member.
 */
export async function addMember(orgId: string, actorId: string, member: Member): Promise<void> {
  for (;;) {
    const { members, actor } = await readMembers(orgId, actorId);
    checkAdding(actor.role, member.role);
    if (members.some((m) => m.user_id === member.user_id)) throw new Problem('ALREADY_MEMBER');
    if (members.length >= maxMembers)
      throw new Problem('CONFLICT', { message: `An organization may have ${maxMembers} members.` });
    const { modifiedCount } = await collectionOf(OrganizationModel).updateOne(
      {
        _id: orgId,
        members: { $elemMatch: { user_id: actorId, role: actor.role } },
        'members.user_id': { $ne: member.user_id },
        [`members.${maxMembers - 1}`]: { $exists: false },
      },
      { $push: { members: member } },
    );
    if (modifiedCount === 1) return;
  }
}

/**
 * Removes a member on behalf of `actorId`, who may be the same person. The write itself requires another owner, so when
 * the last two owners leave at once, one stays.
 * @throws Problem MISSING_ROLE, LAST_OWNER, NOT_FOUND.
 */
export async function removeMember(orgId: string, actorId: string, userId: string): Promise<Member> {
  for (;;) {
    const { members, actor } = await readMembers(orgId, actorId);
    const target = members.find((m) => m.user_id === userId);
    if (!target) throw noSuch('member');
    const owners = members.filter((m) => m.role === 'owner').length;
    checkRemoval({ id: actorId, role: actor.role }, { id: userId, role: target.role }, owners);
    const has = (match: Record<string, unknown>) => ({ members: { $elemMatch: match } });
    const { modifiedCount } = await collectionOf(OrganizationModel).updateOne(
      {
        _id: orgId,
        $and: [
          has({ user_id: actorId, role: actor.role }),
          has({ user_id: userId, role: target.role }),
          ...(target.role === 'owner' ? [has({ user_id: { $ne: userId }, role: 'owner' })] : []),
        ],
      },
      { $pull: { members: { user_id: userId } } },
    );
    if (modifiedCount === 1) return target;
  }
}

/**
 * Changes a member's role on behalf of `actorId`, who may be the same person. As in `removeMember`, the write itself
 * requires another owner when an owner loses the role.
 * @throws Problem MISSING_ROLE, LAST_OWNER, NOT_FOUND.
 */
export async function changeRole(orgId: string, actorId: string, userId: string, role: Role): Promise<Member> {
  for (;;) {
    const { members, actor } = await readMembers(orgId, actorId);
    const target = members.find((m) => m.user_id === userId);
    checkRoleChange(actor.role);
    if (!target) throw noSuch('member');
    if (target.role === role) return target;
    const owners = members.filter((m) => m.role === 'owner').length;
    if (target.role === 'owner' && owners <= 1) throw new Problem('LAST_OWNER');
    const has = (match: Record<string, unknown>) => ({ members: { $elemMatch: match } });
    const changed = await collectionOf(OrganizationModel).updateOne(
      {
        _id: orgId,
        $and: [
          has({ user_id: actorId, role: 'owner' }),
          has({ user_id: userId, role: target.role }),
          ...(target.role === 'owner' ? [has({ user_id: { $ne: userId }, role: 'owner' })] : []),
        ],
      },
      { $set: { 'members.$[one].role': role } },
      { arrayFilters: [{ 'one.user_id': userId }] },
    );
    if (changed.modifiedCount === 1) return { ...target, role };
  }
}

/** Sets whether a member is away; false when the user is not a member. */
export async function setAway(orgId: string, userId: string, away: boolean): Promise<boolean> {
  const { matchedCount } = await collectionOf(OrganizationModel).updateOne(
    { _id: orgId, 'members.user_id': userId },
    away ? { $set: { 'members.$.away': true } } : { $unset: { 'members.$.away': '' } },
  );
  return matchedCount === 1;
}

/** A user's current role in an organization; undefined when the user is not a member. */
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

async function readMembers(orgId: string, actorId: string): Promise<{ members: Member[]; actor: Member }> {
  const members = (await findOrganization(orgId))?.members ?? [];
  const actor = members.find((m) => m.user_id === actorId);
  if (!actor) throw noSuch('organization');
  return { members, actor };
}
