/** Accounts of the dashboard: one per e-mail address, with a password, federated identities, or both. */
import type mongoose from 'mongoose';
import { isDuplicate } from '../base/connect.ts';
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import {
  boolean,
  date,
  embedded,
  list,
  mixed,
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
import { initialNotices, type NoticeSettings } from '../rules/access/noticesettings.ts';

/**
 * An identity at an identity provider: the configured name of the provider, and the provider's id of the person
 * (`sub`).
 */
const identity = embedded({
  provider: string,
  subject: string,
});
export type Identity = ValueOf<typeof identity>;

/**
 * A link that was mailed to the user or created by an operator. It is stored in the account so that using the link is
 * one atomic write.
 */
const proof = embedded({
  kind: oneOf(proofKinds),
  /** SHA-256 of the token, hexadecimal. */
  hash: string,
  /**
   * The address to which the link was mailed. Using the link proves that the user owns this address. Absent when an
   * operator created the link.
   */
  email: optional(string),
  expires_at: date,
});
export type Proof = ValueOf<typeof proof>;

export const UserModel = defineModel(
  'User',
  'users',
  {
    _id: string,
    /** The e-mail address, in lower case. */
    email: unique(string),
    /** Whether the owner of the address has proven it, by an identity provider or a mailed link. */
    email_verified: boolean,
    name: string,
    picture: optional(string),
    /** The password's hash as a PHC string (argon2id); absent for an account that only signs in through a provider. */
    password_hash: optional(string),
    identities: list(identity),
    /** Login tokens contain this number; incrementing it signs the account out everywhere. */
    epoch: orElse(number, 0),
    proofs: optional(list(proof)),
    /**
     * When all links of the account last became invalid. A link that was requested before this time never becomes valid
     * again.
     */
    proofs_ended_at: optional(date),
    /** The notice settings that the user chose; every other setting has its value in `initialNotices`. */
    notices: optional(mixed<Partial<NoticeSettings>>()),
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
  // MongoDB uses the partial index only when the query has a condition on the indexed field beside the `$elemMatch`.
  // The condition on `proofs.hash` in `good` below has the same purpose.
  return collectionOf(UserModel).findOne({
    'identities.subject': subject,
    identities: { $elemMatch: { provider, subject } },
  });
}

/** The users with these ids, in no particular order; unknown ids are left out. */
export async function listUsers(userIds: readonly string[]): Promise<User[]> {
  return collectionOf(UserModel)
    .find({ _id: { $in: userIds } })
    .toArray();
}

/**
 * Stores an account, and its first organization if given. Throws a duplicate error when the e-mail is taken. The
 * organization is stored first. A crash before the account is stored leaves an organization without a usable member,
 * and the e-mail stays free.
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
 * Links an identity to an account whose e-mail the identity's provider has verified; null when the account changed
 * meanwhile.
 *
 * Anyone may create an account with somebody else's e-mail address, which stays unverified, and with a password that
 * only the creator knows. So an unverified account loses its password and its other identities, and all its logins end.
 * From then on, only the owner of the address can use the account.
 */
export async function joinIdentity(user: User, identity: Identity, now: Date): Promise<User | null> {
  const proven: mongoose.mongo.UpdateFilter<User> = { $addToSet: { identities: identity } };
  const claimed: mongoose.mongo.UpdateFilter<User> = {
    $set: { email_verified: true, identities: [identity], proofs_ended_at: now },
    $unset: { password_hash: 1, proofs: 1 },
    $inc: { epoch: 1 },
  };
  return collectionOf(UserModel).findOneAndUpdate(
    { _id: user._id, email: user.email, email_verified: user.email_verified },
    user.email_verified ? proven : claimed,
    { returnDocument: 'after' },
  );
}

/**
 * Stores a link that was requested at `requestedAt`. False when the account's address is no longer `accountEmail`, or
 * when all links of the account became invalid after the request. A mail may be sent again after its link was used, and
 * must not make the link valid again.
 */
export async function addProof(
  userId: string,
  accountEmail: string,
  proof: Proof,
  requestedAt: Date,
): Promise<boolean> {
  // An earlier attempt may have stored the same link, which is then replaced.
  await collectionOf(UserModel).updateOne({ _id: userId }, { $pull: { proofs: { hash: proof.hash } } });
  const { matchedCount } = await collectionOf(UserModel).updateOne(
    { _id: userId, email: accountEmail, proofs_ended_at: { $not: { $gte: requestedAt } } },
    { $push: { proofs: { $each: [proof], $slice: -maxProofs } } },
  );
  return matchedCount === 1;
}

const good = (kind: ProofKind, hash: string, now: Date) => ({
  'proofs.hash': hash,
  proofs: { $elemMatch: { kind, hash, expires_at: { $gt: now } } },
});

/** The account that has this link; null when the link is not valid any more. */
export async function findUserByProof(kind: ProofKind, hash: string, now: Date): Promise<User | null> {
  return collectionOf(UserModel).findOne(good(kind, hash, now));
}

/**
 * Sets a new password for the account that has this link, and ends every login and every other link. Null when the link
 * is no longer valid. A mailed link proves the address. If the address was unproven before, the identities are removed,
 * because the creator of the account may not own the mailbox (see `joinIdentity`). `session`: the transaction that also
 * stores the notice about the change.
 */
export async function resetPassword(
  hash: string,
  passwordHash: string,
  now: Date,
  session: mongoose.mongo.ClientSession,
): Promise<User | null> {
  const owner = await findUserByProof('password_reset', hash, now);
  const proof = owner?.proofs?.find((one) => one.hash === hash);
  if (!owner || !proof) return null;
  const claims = proof.email === owner.email && !owner.email_verified;
  return collectionOf(UserModel).findOneAndUpdate(
    { _id: owner._id, email: owner.email, email_verified: owner.email_verified, ...good('password_reset', hash, now) },
    {
      $set: {
        password_hash: passwordHash,
        proofs_ended_at: now,
        ...(claims ? { email_verified: true, identities: [] } : {}),
      },
      $unset: { proofs: 1 },
      $inc: { epoch: 1 },
    },
    { returnDocument: 'after', session },
  );
}

/**
 * Changes the account's address to the one that a link proves, and ends every other link; logins stay valid. Returns
 * the former and the new address, or null when the link is no longer valid. Throws a duplicate error when another
 * account has the address. `session`: as in `resetPassword`.
 */
export async function changeEmail(
  userId: string,
  hash: string,
  now: Date,
  session: mongoose.mongo.ClientSession,
): Promise<{ former: string; email: string } | null> {
  const owner = await findUserByProof('email_change', hash, now);
  const email = owner?.proofs?.find((one) => one.hash === hash)?.email;
  if (owner?._id !== userId || email === undefined) return null;
  const before = await collectionOf(UserModel).findOneAndUpdate(
    { _id: userId, ...good('email_change', hash, now) },
    { $set: { email, email_verified: true, proofs_ended_at: now }, $unset: { proofs: 1 } },
    { returnDocument: 'before', session },
  );
  return before && { former: before.email, email };
}

/**
 * Marks the address as verified, after the user proved it without a link of the account, for example by an invitation
 * that was mailed to this address.
 */
export async function verifyEmail(userId: string, email: string): Promise<void> {
  await collectionOf(UserModel).updateOne({ _id: userId, email }, { $set: { email_verified: true } });
}

/**
 * Ends every login of the account, and makes every link invalid. Each process refuses the logins from the next request
 * on.
 */
export async function endLogins(userId: string, now: Date): Promise<void> {
  await collectionOf(UserModel).updateOne(
    { _id: userId },
    { $inc: { epoch: 1 }, $set: { proofs_ended_at: now }, $unset: { proofs: 1 } },
  );
}

export async function setPicture(userId: string, picture: string | null): Promise<User | null> {
  return collectionOf(UserModel).findOneAndUpdate(
    { _id: userId },
    picture === null ? { $unset: { picture: 1 } } : { $set: { picture } },
    { returnDocument: 'after' },
  );
}

export const noticesOf = ({ notices }: Pick<User, 'notices'>): NoticeSettings => ({ ...initialNotices, ...notices });

/** Stores the given notice settings and leaves all others unchanged. Null when there is no such user. */
export async function setNotices(userId: string, given: Partial<NoticeSettings>): Promise<User | null> {
  return collectionOf(UserModel).findOneAndUpdate(
    { _id: userId },
    // An update with an empty `$set` is allowed, and changes nothing.
    { $set: Object.fromEntries(Object.entries(given).map(([name, value]) => [`notices.${name}`, value])) },
    { returnDocument: 'after' },
  );
}
