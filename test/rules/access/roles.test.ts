import { describe, it, expect } from '@jest/globals';
import {
  checkAdding,
  checkRemoval,
  checkRoleChange,
  hasRole,
  mayAdd,
  roles,
  type Role,
} from '../../../models/rules/access/roles.ts';

const outcome = (act: () => void): string => {
  try {
    act();
    return 'ok';
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe('hasRole', () => {
  const table: Record<Role, Role[]> = {
    owner: ['owner', 'admin', 'member'],
    admin: ['admin', 'member'],
    member: ['member'],
  };
  it.each(roles.flatMap((role) => roles.map((needed) => [role, needed] as const)))(
    'the role %s satisfies the required role %s only when it is at least as high',
    (role, needed) => {
      expect(hasRole(role, needed)).toBe(table[role].includes(needed));
    },
  );
});

describe('checkAdding', () => {
  it.each<[Role, Role, string]>([
    ['owner', 'owner', 'ok'],
    ['owner', 'admin', 'ok'],
    ['owner', 'member', 'ok'],
    ['admin', 'owner', 'MISSING_ROLE'],
    ['admin', 'admin', 'ok'],
    ['admin', 'member', 'ok'],
    ['member', 'owner', 'MISSING_ROLE'],
    ['member', 'admin', 'MISSING_ROLE'],
    ['member', 'member', 'MISSING_ROLE'],
  ])('an actor with role %s who adds a member with role %s gets: %s', (actor, role, expected) => {
    expect(outcome(() => checkAdding(actor, role))).toBe(expected);
    expect(mayAdd(actor, role)).toBe(expected === 'ok');
  });
});

describe('checkRoleChange', () => {
  it.each<[Role, string]>([
    ['owner', 'ok'],
    ['admin', 'MISSING_ROLE'],
    ['member', 'MISSING_ROLE'],
  ])('an actor with role %s who changes a role gets: %s', (actor, expected) => {
    expect(outcome(() => checkRoleChange(actor))).toBe(expected);
  });
});

describe('checkRemoval', () => {
  it.each<[Role, Role, string]>([
    ['owner', 'owner', 'ok'],
    ['owner', 'admin', 'ok'],
    ['owner', 'member', 'ok'],
    ['admin', 'owner', 'MISSING_ROLE'],
    ['admin', 'admin', 'ok'],
    ['admin', 'member', 'ok'],
    ['member', 'owner', 'MISSING_ROLE'],
    ['member', 'admin', 'MISSING_ROLE'],
    ['member', 'member', 'MISSING_ROLE'],
  ])(
    'an actor with role %s who removes another member with role %s gets: %s (two owners exist)',
    (actor, target, expected) => {
      expect(outcome(() => checkRemoval({ id: 'a', role: actor }, { id: 'b', role: target }, 2))).toBe(expected);
    },
  );

  it.each<[Role, number, string]>([
    ['owner', 1, 'LAST_OWNER'],
    ['owner', 2, 'ok'],
    ['admin', 1, 'ok'],
    ['member', 1, 'ok'],
  ])('a member with role %s who leaves an organization with %s owner(s) gets: %s', (role, owners, expected) => {
    expect(outcome(() => checkRemoval({ id: 'a', role }, { id: 'a', role }, owners))).toBe(expected);
  });
});
