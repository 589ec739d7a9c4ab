/** Decides who may do what inside an organization. Pure. */
import { Problem } from '../base/errors.ts';

export const roles = ['owner', 'admin', 'member'] as const;
export type Role = (typeof roles)[number];

/**
 * Members are stored inside the organization's record, which one read must fetch; a larger organization needs another
 * design.
 */
export const maxMembers = 1000;

/**
 * Whether `role` is at least `needed`: an owner may do everything that an admin may, and an admin everything that a
 * member may.
 */
export function hasRole(role: Role, needed: Role): boolean {
  return roles.indexOf(role) <= roles.indexOf(needed);
}

/**
 * Throws `MISSING_ROLE` unless `actor` may add a member with this `role`: admins may add members, only owners may add
 * owners.
 */
export function checkAdding(actor: Role, role: Role): void {
  if (!hasRole(actor, 'admin'))
    throw new Problem('MISSING_ROLE', { message: `Adding people takes the role admin; yours is ${actor}.` });
  if (role === 'owner' && actor !== 'owner')
    throw new Problem('MISSING_ROLE', { message: 'Only an owner makes somebody an owner.' });
}

/** Whether `checkAdding` would let it. */
export const mayAdd = (actor: Role, role: Role): boolean =>
  hasRole(actor, 'admin') && (role !== 'owner' || actor === 'owner');

/**
 * Throws unless `actor` may remove `target`: everyone may leave, admins remove members and admins, owners remove
 * anyone, and the last owner stays (`LAST_OWNER`).
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

/** Throws unless `actor` may take over the keys of somebody who is taken out: an owner who stays. */
export function checkKeepingKeys(actor: { id: string; role: Role }, targetId: string): void {
  if (actor.role !== 'owner')
    throw new Problem('MISSING_ROLE', {
      message: `Taking over a member's keys takes the role owner; yours is ${actor.role}.`,
    });
  const message = 'your own keys cannot be kept when you leave; have another owner take you out';
  if (actor.id === targetId) throw new Problem('VALIDATION', { details: [{ path: ['query', 'keep_keys'], message }] });
}

/** Throws `MISSING_ROLE` unless `actor` may change roles, which owners may: also their own. */
export function checkRoleChange(actor: Role): void {
  if (actor !== 'owner')
    throw new Problem('MISSING_ROLE', { message: `Changing roles takes the role owner; yours is ${actor}.` });
}
