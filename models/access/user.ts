/**
 * People who sign in to the dashboard: one account per e-mail address, with a password, federated identities, or both.
 */
import { isDuplicate } from '../base/connect.ts';
import { defineModel } from '../base/define.ts';
import { OrganizationModel, type Organization } from './organization.ts';

/**
 * A person at an identity provider: the provider's configured name, and the `sub` by which it identifies the person.
 */
export type Identity = { provider: string; subject: string };
export type User = {
  _id: string;
  /** Lower case. */
  email: string;
  /** Whether an identity provider has confirmed who owns the address. */
  email_verified: boolean;
  name: string;
  picture?: string;
  /** PHC string (argon2id); absent for an account that only signs in through a provider. */
  password_hash?: string;
  identities: Identity[];
  /** Tokens carry it; raising it signs the account out everywhere. */
  epoch: number;
  created_at: Date;
};

const UserModel = defineModel<User>(
  'User',
  'users',
  {
    _id: { type: String, required: true },
    email: { type: String, required: true, unique: true },
    email_verified: { type: Boolean, required: true },
    name: { type: String, required: true },
    picture: String,
    password_hash: String,
    identities: [{ _id: false, provider: { type: String, required: true }, subject: { type: String, required: true } }],
    epoch: { type: Number, required: true, default: 0 },
    created_at: { type: Date, required: true },
  },
  [
    {
      fields: { 'identities.provider': 1, 'identities.subject': 1 },
      unique: true,
      partialFilterExpression: { 'identities.subject': { $exists: true } },
    },
  ],
);

export async function findUser(userId: string): Promise<User | null> {
  return UserModel.findById(userId).lean();
}

export async function findUserByEmail(email: string): Promise<User | null> {
  return UserModel.findOne({ email }).lean();
}

export async function findUserByIdentity({ provider, subject }: Identity): Promise<User | null> {
  return UserModel.findOne({ identities: { $elemMatch: { provider, subject } } }).lean();
}

/** The users in no particular order; unknown ids are left out. */
export async function listUsers(userIds: readonly string[]): Promise<User[]> {
  return UserModel.find({ _id: { $in: userIds } }).lean();
}

/**
 * Stores an account, and its first organization if there is one. Throws a duplicate error when the e-mail is taken. The
 * organization is stored first: a process that dies in between leaves one without a member who can sign in, and the
 * e-mail stays free.
 */
export async function createUser(user: User, organization?: Organization): Promise<void> {
  if (organization) await OrganizationModel.create(organization);
  try {
    await UserModel.create(user);
  } catch (error) {
    if (organization && isDuplicate(error)) await OrganizationModel.deleteOne({ _id: organization._id });
    throw error;
  }
}

/**
 * Lets an identity sign in to an account whose e-mail its provider has verified; null when the account changed
 * meanwhile.
 *
 * Anyone may have created an account whose e-mail was never verified, before the address's owner came, with a password
 * that only the creator knows. So its password and other identities are removed and its tokens end: from then on only
 * the owner can use the account.
 */
export async function joinIdentity(user: User, identity: Identity): Promise<User | null> {
  const proven = { $addToSet: { identities: identity } };
  const claimed = {
    $set: { email_verified: true, identities: [identity] },
    $unset: { password_hash: 1 },
    $inc: { epoch: 1 },
  };
  return UserModel.findOneAndUpdate(
    { _id: user._id, email: user.email, email_verified: user.email_verified },
    user.email_verified ? proven : claimed,
    { returnDocument: 'after' },
  ).lean();
}
