import { memberships } from './people.ts';
import { findUser, type User } from '../../models/access/user.ts';
import { Problem } from '../../models/rules/base/errors.ts';

export async function viewProfile(user: User) {
  const { _id, email, email_verified, name, picture = null, created_at } = user;
  const organizations = await memberships(_id);
  return { userId: _id, email, email_verified, name, picture, created_at, organizations };
}

export async function self(userId: string): Promise<User> {
  const user = await findUser(userId);
  if (!user) throw new Problem('UNAUTHENTICATED');
  return user;
}
