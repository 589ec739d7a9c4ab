/**
 * `Idempotency-Key`: a POST runs once per credential, route and key. Its first reply is stored and returned to retries.
 */
import { createHash, randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import { toProblem } from './errors.ts';
import {
  keepReply,
  releaseIdempotencyKey,
  renewIdempotencyKey,
  replyPlace,
  takeIdempotencyKey,
} from '../../models/base/idempotency.ts';
import { Problem } from '../../models/rules/base/errors.ts';
import { idsIn } from '../../models/rules/base/holdings.ts';

const keptForMs = 24 * 3600 * 1000;
/**
 * How long a lease on an idempotency key lasts without renewal, in ms. If the process dies, retries are refused for
 * this long.
 */
const ownLeaseMs = 15_000;
/** How many times a lease is renewed within its duration. One failed renewal then does not end the lease. */
const renewals = 3;
const maxKeyLength = 255;

/** `until`: when the reply becomes useless. Retries after that time do not get the stored reply. */
export type Reply = { status: number; body: string; until?: Date | undefined };
/** `fingerprints`: HMACs of the request with each secret key, newest first. */
export type KeyedRequest = { credential: string; route: string; key: string; fingerprints: readonly string[] };

const hashOf = (parts: readonly unknown[]): string => createHash('sha256').update(JSON.stringify(parts)).digest('hex');

/**
 * The ids of a request, one for each secret key, newest first. A retry under the same idempotency key shares at least
 * one id with the request, even if a new secret key was added in between.
 */
export const commandIdsOf = ({ credential, route, key, fingerprints }: KeyedRequest): string[] =>
  fingerprints.map((fingerprint) => hashOf([credential, route, key, fingerprint]));

/**
 * Runs `answer` unless this request was answered before. An error of `answer` is not stored and frees the idempotency
 * key, so the caller may correct the request or wait, and use the key again. A lease of `leaseMs` holds the key and is
 * renewed while `answer` runs. So a slow request keeps its key, and the key of a process that died becomes free.
 * @throws Problem `IDEMPOTENCY_KEY_REUSED` for another body under the same key, `IDEMPOTENCY_KEY_IN_PROGRESS` while the
 * first request runs.
 */
export async function once(
  ctx: Context,
  request: KeyedRequest,
  answer: () => Promise<Reply>,
  leaseMs = ownLeaseMs,
): Promise<Reply & { replayed: boolean }> {
  if (request.key.length < 1 || request.key.length > maxKeyLength) {
    const message = `Idempotency-Key has 1 to ${maxKeyLength} characters; leave it out to have none.`;
    throw new Problem('VALIDATION', { message, details: [{ path: ['headers', 'idempotency-key'], message }] });
  }
  const id = hashOf([request.credential, request.route, request.key]);
  const holding = { id, holder: randomUUID() };
  const lease = { runMs: leaseMs, keepMs: keptForMs };
  const standing = await takeIdempotencyKey(holding, request.fingerprints, ctx.clock(), lease);
  if (standing) {
    if (!request.fingerprints.includes(standing.fingerprint)) throw new Problem('IDEMPOTENCY_KEY_REUSED');
    if (!standing.reply) throw new Problem('IDEMPOTENCY_KEY_IN_PROGRESS');
    return {
      status: standing.reply.status,
      body: ctx.secrets.open(standing.reply.body, replyPlace(id)),
      replayed: true,
    };
  }
  const renewing = setInterval(() => {
    renewIdempotencyKey(holding, new Date(ctx.clock().getTime() + leaseMs)).catch((error: unknown) =>
      ctx.log.warn({ err: error }, 'the lease of an idempotency key was not renewed'),
    );
  }, leaseMs / renewals);
  let reply: Reply;
  try {
    reply = await answer();
  } catch (error) {
    await releaseIdempotencyKey(holding).catch((e: unknown) =>
      ctx.log.warn({ err: e }, 'an idempotency key was not released'),
    );
    throw toProblem(error);
  } finally {
    clearInterval(renewing);
  }
  // The request was handled, so the caller gets the reply even if storing it fails.
  const kept = { status: reply.status, body: ctx.secrets.seal(reply.body, replyPlace(id)) };
  const about = idsIn(`${request.route} ${reply.body}`);
  await keepReply(holding, kept, { about, until: reply.until }).catch((error: unknown) =>
    ctx.log.error({ err: error }, 'an idempotent reply was not kept'),
  );
  return { ...reply, replayed: false };
}
