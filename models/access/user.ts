/**
 * People who sign in to the dashboard: one account per e-mail address, with a password, federated identities, or both.
 */
import type mongoose from 'mongoose';
import { isDuplicate } from '../base/connect.ts';
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import {
  boolean,
  date,
  embedded,
  list,
  number,
  oneOf,
  optional,
  orElse,
  string,
  unique,
  type ValueOf,
} from '../rules/base/fields.ts';
import { OrganizationModel, type Organization } from './organization.ts';
import { maxProofs, proofKinds, type ProofKind } from '../rules/access/account.ts';

/**
 * A person at an identity provider: the provider's configured name, and the `sub` by which it identifies the person.
 */
const identity = embedded({
  provider: string,
  subject: string,
});
export type Identity = ValueOf<typeof identity>;

/** A link that was mailed to the account's owner. It is part of the account, so that using it is one write. */
const proof = embedded({
  kind: oneOf(proofKinds),
  /** SHA-256 of the token, hexadecimal. */
  hash: string,
  /** The address that the mail went to, which the link proves; absent when an operator made the link. */
  email: optional(string),
  expires_at: date,
});
export type Proof = ValueOf<typeof proof>;

const UserModel = defineModel(
  'User',
  'users',
  {
    _id: string,
    /** Lower case. */
    email: unique(string),
    /** Whether an identity provider, or a link that was mailed there, has proven who owns the address. */
    email_verified: boolean,
    name: string,
    picture: optional(string),
    /** PHC string (argon2id); absent for an account that only signs in through a provider. */
    password_hash: optional(string),
    identities: list(identity),
    /** Tokens carry it; raising it signs the account out everywhere. */
    epoch: orElse(number, 0),
    proofs: optional(list(proof)),
    created_at: date,
  },
  [
    {
      fields: { 'identities.provider': 1, 'identities.subject': 1 },
      unique: true,
      partialFilterExpression: { 'identities.subject': { $exists: true } },
    },
    { fields: { 'proofs.hash': 1 }, partialFilterExpression: { 'proofs.hash': { $exists: true } } },
  ],
);
export type User = RecordOf<typeof UserModel>;

export async function findUser(userId: string): Promise<User | null> {
  return collectionOf(UserModel).findOne({ _id: userId });
}

export async function findUserByEmail(email: string): Promise<User | null> {
  return collectionOf(UserModel).findOne({ email });
}

export async function findUserByIdentity({ provider, subject }: Identity): Promise<User | null> {
  // Beside the condition on one entry stands the field that makes MongoDB use the partial index; so it does below.
  return collectionOf(UserModel).findOne({
    'identities.subject': subject,
    identities: { $elemMatch: { provider, subject } },
  });
}

/** The users in no particular order; unknown ids are left out. */
export async function listUsers(userIds: readonly string[]): Promise<User[]> {
  return collectionOf(UserModel)
    .find({ _id: { $in: userIds } })
    .toArray();
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
    if (organization && isDuplicate(error)) await collectionOf(OrganizationModel).deleteOne({ _id: organization._id });
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
  const proven: mongoose.mongo.UpdateFilter<User> = { $addToSet: { identities: identity } };
  const claimed: mongoose.mongo.UpdateFilter<User> = {
    $set: { email_verified: true, identities: [identity] },
    $unset: { password_hash: 1, proofs: 1 },
    $inc: { epoch: 1 },
  };
  return collectionOf(UserModel).findOneAndUpdate(
    { _id: user._id, email: user.email, email_verified: user.email_verified },
    user.email_verified ? proven : claimed,
    { returnDocument: 'after' },
  );
}

/** Makes a link good. False when the account's address is no longer the one that the mail goes to. */
export async function addProof(userId: string, accountEmail: string, proof: Proof): Promise<boolean> {
  // The attempt before may have stored it.
  await collectionOf(UserModel).updateOne({ _id: userId }, { $pull: { proofs: { hash: proof.hash } } });
  const { matchedCount } = await collectionOf(UserModel).updateOne(
    { _id: userId, email: accountEmail },
    { $push: { proofs: { $each: [proof], $slice: -maxProofs } } },
  );
  return matchedCount === 1;
}

const good = (kind: ProofKind, hash: string, now: Date) => ({
  'proofs.hash': hash,
  proofs: { $elemMatch: { kind, hash, expires_at: { $gt: now } } },
});

/** Whose link this is, while it is good. */
export async function findUserByProof(kind: ProofKind, hash: string, now: Date): Promise<User | null> {
  return collectionOf(UserModel).findOne(good(kind, hash, now));
}

/**
 * Sets the password that somebody with a link has chosen, and ends every login and every other link. Null when the link is
 * over. A link that was mailed proves the address; of an account whose address nobody had proven, the identities go, since
 * whoever made it may not be the owner of the mailbox (see `joinIdentity`).
 */
export async function resetPassword(hash: string, passwordHash: string, now: Date): Promise<User | null> {
  const owner = await findUserByProof('password_reset', hash, now);
  const proof = owner?.proofs?.find((one) => one.hash === hash);
  if (!owner || !proof) return null;
  const claims = proof.email === owner.email && !owner.email_verified;
  return collectionOf(UserModel).findOneAndUpdate(
    { _id: owner._id, email: owner.email, email_verified: owner.email_verified, ...good('password_reset', hash, now) },
    {
      $set: { password_hash: passwordHash, ...(claims ? { email_verified: true, identities: [] } : {}) },
      $unset: { proofs: 1 },
      $inc: { epoch: 1 },
    },
    { returnDocument: 'after' },
  );
}

/**
 * Gives the account the address that a link of its own proves, and ends every other link; logins stay. Returns it as it was
 * before; null when the link is over. Throws a duplicate error when another account has the address.
 */
export async function changeEmail(userId: string, hash: string, now: Date): Promise<User | null> {
  const owner = await findUserByProof('email_change', hash, now);
  const email = owner?.proofs?.find((one) => one.hash === hash)?.email;
  if (owner?._id !== userId || email === undefined) return null;
  return collectionOf(UserModel).findOneAndUpdate(
    { _id: userId, ...good('email_change', hash, now) },
    { $set: { email, email_verified: true }, $unset: { proofs: 1 } },
    { returnDocument: 'before' },
  );
}

/** The address was proven otherwise, as by an invitation that was sent there. */
export async function verifyEmail(userId: string, email: string): Promise<void> {
  await collectionOf(UserModel).updateOne({ _id: userId, email }, { $set: { email_verified: true } });
}

/** Ends every login of the account, in every process from the next request on, and the links that wait. */
export async function endLogins(userId: string): Promise<void> {
  await collectionOf(UserModel).updateOne({ _id: userId }, { $inc: { epoch: 1 }, $unset: { proofs: 1 } });
}

export async function setPicture(userId: string, picture: string | null): Promise<User | null> {
  return collectionOf(UserModel).findOneAndUpdate(
    { _id: userId },
    picture === null ? { $unset: { picture: 1 } } : { $set: { picture } },
    { returnDocument: 'after' },
  );
}
