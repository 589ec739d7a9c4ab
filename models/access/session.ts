/**
 * Support sessions. A session is the record to which a customer's token or an embedded chat belongs. It names the
 * customer and tells whether the session was revoked. A token whose record is missing or revoked is refused.
 */
import { createHash, randomBytes } from 'node:crypto';
import { cached } from '../base/cached.ts';
import { againIfDuplicate } from '../base/connect.ts';
import { acrossShards, collectionOf, defineModel, newest, olderThan, readerOf, type RecordOf } from '../base/define.ts';
import { boolean, date, mixed, oneOf, optional, string } from '../rules/base/fields.ts';
import { modes, type Mode } from '../rules/access/keys.ts';
import { stepUpMs } from '../rules/access/session.ts';
import { defined } from '../rules/base/defined.ts';
import { keptSeconds } from '../rules/base/retention.ts';

const sessionKinds = ['minted', 'embed'] as const;

export const SessionModel = defineModel(
  'Session',
  'sessions',
  {
    _id: string,
    org_id: string,
    mode: oneOf(modes),
    /** `minted`: created by a backend with a secret key. `embed`: created by a page with a publishable key. */
    kind: oneOf(sessionKinds),
    customer_id: string,
    /** Whether a backend or a signature vouches for the customer's identity. */
    verified: boolean,
    /** In an embedded chat, the product that the page named last. */
    product_type: optional(string),
    context: mixed<Record<string, unknown>>(),
    /** An id that the browser chose. It proves no identity, so customers are never merged because of it. */
    visitor_id: optional(string),
    /** SHA-256 of the step-up token, hexadecimal; removed when the token is used. */
    step_up_hash: optional(string),
    step_up_expires_at: optional(date),
    expires_at: date,
    revoked_at: optional(date),
    /** The id of the key that created the session, or `embed`. */
    created_by: string,
    created_at: date,
  },
  [
    { fields: { org_id: 1, customer_id: 1, _id: -1 } },
    // This index allows one session per visitor of an embedded chat, so that limits and revocation apply to all
    // connections of the visitor.
    {
      fields: { org_id: 1, mode: 1, visitor_id: 1, customer_id: 1 },
      unique: true,
      partialFilterExpression: { kind: 'embed' },
    },
    { fields: { expires_at: 1 }, expireAfterSeconds: keptSeconds('sessions') },
  ],
);
export type Session = RecordOf<typeof SessionModel>;

const readSession = readerOf(SessionModel);

/** Finds a session, even one that is revoked or expired. */
export async function findSession(orgId: string, sessionId: string): Promise<Readonly<Session> | null> {
  return readSession(orgId, sessionId);
}

/**
 * The session, cached for less than a second, because every request reads it. The process that revokes a session sees
 * the change at once.
 */
export const recentSession = cached(findSession);

/**
 * A customer's sessions, newest first, including ended ones that are still kept. `after`: the last id of the previous
 * page.
 */
export async function listSessionsOf(
  orgId: string,
  customerId: string,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<Session[]> {
  const which = { org_id: orgId, customer_id: customerId, ...olderThan(after) };
  return newest(collectionOf(SessionModel).find(which), limit);
}

export async function createSession(session: Session): Promise<void> {
  await collectionOf(SessionModel).insertOne(session);
}

/** Revokes a session. Idempotent; null when there is no such session. */
export async function revokeSession(orgId: string, sessionId: string, now: Date): Promise<Session | null> {
  const sessions = collectionOf(SessionModel);
  const revoked = await sessions.findOneAndUpdate(
    { _id: sessionId, org_id: orgId, revoked_at: { $exists: false } },
    { $set: { revoked_at: now } },
    { returnDocument: 'after' },
  );
  recentSession.forget(orgId, sessionId);
  return revoked ?? (await sessions.findOne({ _id: sessionId, org_id: orgId }));
}

/** Whether this visitor of an embedded chat has had a session before, for whichever customer. */
export async function visitorSeen(orgId: string, mode: Mode, visitorId: string): Promise<boolean> {
  const found = await collectionOf(SessionModel).findOne(
    { org_id: orgId, mode, visitor_id: visitorId, kind: 'embed' },
    { projection: { _id: 1 } },
  );
  return found !== null;
}

/**
 * The ids of the given sessions that were revoked or erased; the sessions may belong to any organization. A process
 * calls this when it may have missed the events about ended sessions.
 */
export async function endedAmong(sessionIds: readonly string[]): Promise<string[]> {
  const standing = await acrossShards(SessionModel)
    .find({ _id: { $in: [...sessionIds] }, revoked_at: { $exists: false } }, { projection: { _id: 1 } })
    .toArray();
  const stands = new Set(standing.map(({ _id }) => _id));
  return sessionIds.filter((id) => !stands.has(id));
}

/**
 * The session of an embedded chat's visitor, created from `fresh` when there is none; its expiry is extended. A revoked
 * session is returned still revoked, because a visitor's return must not undo a revocation.
 */
export async function provideEmbedSession(fresh: Session & { kind: 'embed'; visitor_id: string }): Promise<Session> {
  const { expires_at, product_type, ...first } = fresh;
  const session = await againIfDuplicate(() =>
    collectionOf(SessionModel).findOneAndUpdate(
      {
        org_id: fresh.org_id,
        mode: fresh.mode,
        customer_id: fresh.customer_id,
        visitor_id: fresh.visitor_id,
        kind: 'embed',
      },
      {
        $setOnInsert: first,
        $set: { expires_at, ...defined({ product_type }) },
        ...(product_type === undefined ? { $unset: { product_type: '' as const } } : {}),
      },
      { upsert: true, returnDocument: 'after' },
    ),
  );
  return session!;
}

/**
 * A new step-up token, and the fields that the session stores for it. The token allows one action that needs a second
 * proof of identity.
 */
export function newStepUp(now: Date): { token: string; stored: Pick<Session, 'step_up_hash' | 'step_up_expires_at'> } {
  const token = `sut_${randomBytes(32).toString('base64url')}`;
  return {
    token,
    stored: { step_up_hash: hashOf(token), step_up_expires_at: new Date(now.getTime() + stepUpMs) },
  };
}

/** Uses up a session's step-up token. False when the token is wrong, used or expired, or when the session has ended. */
export async function consumeStepUp(orgId: string, sessionId: string, token: string, now: Date): Promise<boolean> {
  const { modifiedCount } = await collectionOf(SessionModel).updateOne(
    {
      _id: sessionId,
      org_id: orgId,
      step_up_hash: hashOf(token),
      step_up_expires_at: { $gt: now },
      expires_at: { $gt: now },
      revoked_at: { $exists: false },
    },
    { $unset: { step_up_hash: '', step_up_expires_at: '' } },
  );
  return modifiedCount === 1;
}

const hashOf = (token: string) => createHash('sha256').update(token).digest('hex');
