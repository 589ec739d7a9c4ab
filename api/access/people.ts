/** How accounts and organizations are shown, and the account functions that several routes share. */
import type { Context } from '../context.ts';
import { maxMemberships } from './contract/auth.ts';
import { createAttempts } from '../http/attempts.ts';
import { perConfig } from '../http/perconfig.ts';
import { createPasswords } from './passwords.ts';
import { newId } from '../../models/base/ids.ts';
import { listOrganizationsOf } from '../../models/access/organization.ts';
import { findUserByEmail, listUsers, type User } from '../../models/access/user.ts';

export const passwords = perConfig(() => createPasswords());
const attempts = perConfig(createAttempts);

export function viewUser(user: User) {
  return { userId: user._id, email: user.email, name: user.name, ...(user.picture ? { picture: user.picture } : {}) };
}

/** Users in the form in which assignees are shown; unknown ids are left out. */
export async function peopleOf(userIds: readonly string[]) {
  const users = await listUsers(userIds);
  return users.map(({ _id, name, email }) => ({ userId: _id, name, email }));
}

export async function memberships(userId: string) {
  const found = await listOrganizationsOf(userId, maxMemberships);
  return found.map((org) => ({ org_id: org._id, name: org.name, role: org.members[0]!.role }));
}

/** The reply of every route that signs a user in. */
export async function login(ctx: Context, user: User) {
  const [{ token, expiresAt }, organizations] = await Promise.all([
    ctx.tokens.sign(user._id, user.epoch),
    memberships(user._id),
  ]);
  return { token, expires_at: expiresAt, user: viewUser(user), organizations };
}

export function newUser(
  ctx: Context,
  user: Pick<User, 'email' | 'email_verified' | 'name' | 'identities'> & { picture?: string; password_hash?: string },
): User {
  return { ...user, _id: newId('user'), epoch: 0, created_at: ctx.clock() };
}

/**
 * The account with this e-mail and password. Undefined when the password is wrong or there is no such account. Both
 * cases take the same time, so that timing does not reveal which accounts exist.
 * @throws Problem RATE_LIMITED after too many failures.
 */
export async function authenticate(
  ctx: Context,
  { email, password, address }: { email: string; password: string; address: string },
): Promise<User | undefined> {
  return attempts(ctx.config)({ email, address }, async () => {
    const account = await findUserByEmail(email);
    const matches = await passwords(ctx.config).verify(account?.password_hash, password);
    return account && matches ? account : undefined;
  });
}
