/** `Idempotency-Key`: a POST runs once per credential, route and key; its first answer is kept and returned again. */
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
 * How long a request holds its key without renewing the lease, in ms: a retry waits this long when the process has
 * died.
 */
const ownLeaseMs = 15_000;
/** How often a lease is renewed before it would end, so that one failed renewal does no harm. */
const renewals = 3;
const maxKeyLength = 255;

/** `until`: when the answer becomes useless; after it the key no longer returns the answer. */
export type Reply = { status: number; body: string; until?: Date | undefined };
/** `fingerprints`: hashes of the request with each secret key, newest first. */
export type KeyedRequest = { credential: string; route: string; key: string; fingerprints: readonly string[] };

const hashOf = (parts: readonly unknown[]): string => createHash('sha256').update(JSON.stringify(parts)).digest('hex');

/** The same id for the same request under the same key. */
export const commandIdOf = ({ credential, route, key, fingerprints }: KeyedRequest): string =>
  hashOf([credential, route, key, fingerprints[0]]);

/**
 * Runs `answer` unless this request was answered before. Problems under 500 are not kept: nothing was done, so the
 * caller may correct the request or wait, and use the same key again. The key is held by a lease of `leaseMs`, which is
 * renewed for as long as `answer` runs: a slow request keeps its key, and a key whose process died becomes free.
 * @throws Problem `IDEMPOTENCY_KEY_REUSED` for another body under the key, `IDEMPOTENCY_KEY_IN_PROGRESS` while the
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
  const standing = await takeIdempotencyKey(holding, request.fingerprints[0]!, ctx.clock(), lease);
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
  // The work is done: a failure to keep the answer must not turn it into an error.
  const kept = { status: reply.status, body: ctx.secrets.seal(reply.body, replyPlace(id)) };
  const about = idsIn(`${request.route} ${reply.body}`);
  await keepReply(holding, kept, { about, until: reply.until }).catch((error: unknown) =>
    ctx.log.error({ err: error }, 'an idempotent reply was not kept'),
  );
  return { ...reply, replayed: false };
}
