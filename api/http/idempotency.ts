/** `Idempotency-Key`: a POST runs once per credential, route and key; its first answer is kept and given again. */
import { createHash } from 'node:crypto';
import type { Context } from '../context.ts';
import { toProblem } from './errors.ts';
import { keepReply, releaseIdempotencyKey, takeIdempotencyKey } from '../../models/base/idempotency.ts';
import { Problem } from '../../models/rules/base/errors.ts';

const KEEP_MS = 24 * 3600 * 1000;
/** No handler runs longer; a request that is still unanswered then has died with its process. */
const RUN_MS = 120_000;
const MAX_KEY_LENGTH = 255;

/** `until`: after it the answer is of no use any more, and the key does not give it again. */
export type Reply = { status: number; body: string; until?: Date | undefined };
type Request = { credential: string; route: string; key: string; fingerprint: string };

/**
 * Runs `answer` unless this request was answered before. Problems under 500 are not kept: nothing was done, so the caller
 * may mend the request or wait, and use the same key again.
 * @throws Problem `IDEMPOTENCY_KEY_REUSED` for another body under the key, `IDEMPOTENCY_KEY_IN_PROGRESS` while the first runs.
 */
export async function once(
  ctx: Context,
  request: Request,
  answer: () => Promise<Reply>,
): Promise<Reply & { replayed: boolean }> {
  if (request.key.length < 1 || request.key.length > MAX_KEY_LENGTH) {
    const message = `Idempotency-Key has 1 to ${MAX_KEY_LENGTH} characters; leave it out to have none.`;
    throw new Problem('VALIDATION', { message, details: [{ path: ['headers', 'idempotency-key'], message }] });
  }
  const id = createHash('sha256')
    .update(JSON.stringify([request.credential, request.route, request.key]))
    .digest('hex');
  const standing = await takeIdempotencyKey(id, request.fingerprint, ctx.clock(), { runMs: RUN_MS, keepMs: KEEP_MS });
  if (standing) {
    if (standing.fingerprint !== request.fingerprint) throw new Problem('IDEMPOTENCY_KEY_REUSED');
    if (!standing.reply) throw new Problem('IDEMPOTENCY_KEY_IN_PROGRESS');
    return { status: standing.reply.status, body: ctx.secrets.open(standing.reply.body), replayed: true };
  }
  let reply: Reply;
  try {
    reply = await answer();
  } catch (error) {
    await releaseIdempotencyKey(id).catch((e: unknown) =>
      ctx.log.warn({ err: e }, 'an idempotency key was not released'),
    );
    throw toProblem(error);
  }
  // The work is done: a failure to keep the answer must not turn it into an error.
  const kept = { status: reply.status, body: ctx.secrets.seal(reply.body) };
  await keepReply(id, kept, reply.until).catch((error: unknown) =>
    ctx.log.error({ err: error }, 'an idempotent reply was not kept'),
  );
  return { ...reply, replayed: false };
}
