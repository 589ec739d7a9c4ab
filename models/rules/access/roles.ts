/** The roles of members, and what each role may do in an organization. Pure. */
import { invalid, Problem } from '../base/errors.ts';

export const roles = ['owner', 'admin', 'member'] as const;
export type Role = (typeof roles)[number];

/**
 * The maximum number of members. Members are stored inside the organization's record and read together, so a larger
 * organization needs another design.
 */
export const maxMembers = 1000;
/** How many of those who left an organization are remembered in its record. */
export const maxLeft = 1000;

/** Whether `role` includes the rights of `needed`: owner includes admin, and admin includes member. */
export function hasRole(role: Role, needed: Role): boolean {
  return roles.indexOf(role) <= roles.indexOf(needed);
}

/**
 * Throws `MISSING_ROLE` unless `actor` may add a member with this `role`. Admins may add members and admins; only
 * owners may add owners.
 */
export function checkAdding(actor: Role, role: Role): void {
  if (!hasRole(actor, 'admin'))
    throw new Problem('MISSING_ROLE', { message: `Adding people takes the role admin; yours is ${actor}.` });
  if (role === 'owner' && actor !== 'owner')
    throw new Problem('MISSING_ROLE', { message: 'Only an owner makes somebody an owner.' });
}

/** The same decision as `checkAdding`, without the error. */
export const mayAdd = (actor: Role, role: Role): boolean =>
  hasRole(actor, 'admin') && (role !== 'owner' || actor === 'owner');

/**
 * Throws `MISSING_ROLE` unless `actor` may remove `target`. Everyone may leave, admins may remove members and admins,
 * and owners may remove anyone. Throws `LAST_OWNER` when the last owner would be removed.
 */
export function checkRemoval(
  actor: { id: string; role: Role },
  target: { id: string; role: Role },
  owners: number,
): void {
  if (actor.id !== target.id) {
    if (!hasRole(actor.role, 'admin'))
      throw new Problem('MISSING_ROLE', { message: `Removing people takes the role admin; yours is ${actor.role}.` });
    if (target.role === 'owner' && actor.role !== 'owner')
      throw new Problem('MISSING_ROLE', { message: 'Only an owner removes an owner.' });
  }
  if (target.role === 'owner' && owners <= 1) throw new Problem('LAST_OWNER');
}

/**
 * Throws `MISSING_ROLE` unless `actor` is an owner, who alone may take over the API keys of a removed member. Throws
 * `VALIDATION` when owners remove themselves, because they cannot keep their own keys.
 */
export function checkKeepingKeys(actor: { id: string; role: Role }, targetId: string): void {
  if (actor.role !== 'owner')
    throw new Problem('MISSING_ROLE', {
      message: `Taking over a member's keys takes the role owner; yours is ${actor.role}.`,
    });
  const message = 'your own keys cannot be kept when you leave; have another owner take you out';
  if (actor.id === targetId) throw invalid(['query', 'keep_keys'], message);
}

/** Throws `MISSING_ROLE` unless `actor` is an owner. Owners may also change their own role. */
export function checkRoleChange(actor: Role): void {
  if (actor !== 'owner')
    throw new Problem('MISSING_ROLE', { message: `Changing roles takes the role owner; yours is ${actor}.` });
}

/**
 * The availability of a member. Members who are `here` are notified first; a member who is `here` but not connected is
 * treated like one who is `away`.
 */
export const memberStates = ['here', 'away'] as const;
