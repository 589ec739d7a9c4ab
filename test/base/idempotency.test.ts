/** The lease of an Idempotency-Key: a slow request keeps the key, and a dead process frees it. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';
import mongoose from 'mongoose';
import pino from 'pino';
import { modelsIn } from '../kit/database.ts';
import type { Context } from '../../api/context.ts';
import { commandIdsOf, once, type Reply } from '../../api/http/idempotency.ts';
import { createSecretBox } from '../../models/base/secretbox.ts';
import { until } from '../kit/harness.ts';

modelsIn('idempotency');

/** A date in the future, because MongoDB deletes expired records by its own clock. */
const start = Date.parse('2096-01-02T03:04:05Z');
let nowMs: number;
const ctx = {
  clock: () => new Date(nowMs),
  log: pino({ level: 'silent' }),
  secrets: createSecretBox([randomBytes(32)]),
} as Context;

/** Simulates a stopped process. Its clock stands still, so a renewed lease ends when the first one does. */
const stopped: Context = { ...ctx, clock: () => new Date(start) };

let request: { credential: string; route: string; key: string; fingerprints: string[] };
beforeEach(() => {
  nowMs = start;
  request = { credential: 'user', route: 'POST /things', key: randomUUID(), fingerprints: ['same'] };
});

/** A handler that answers on command and reports when it has started. */
function held(body: string) {
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<Reply>();
  const answer = () => {
    begun.resolve();
    return end.promise;
  };
  return { answer, begun: begun.promise, finish: () => end.resolve({ status: 201, body }), fail: end.reject };
}
const answered = (body: string) => () => Promise.resolve({ status: 201, body });
const inProgress = expect.objectContaining({ code: 'IDEMPOTENCY_KEY_IN_PROGRESS' });
/** The end of the newest lease, in ms after the start. */
async function leaseEnd(): Promise<number> {
  const [entry] = await mongoose.connection.collection('idempotency').find().sort({ $natural: -1 }).limit(1).toArray();
  return (entry!['running_until'] as Date).getTime() - start;
}

describe('Idempotency-Key', () => {
  it('an Idempotency-Key is free again 15 s after the process of its request died, and not earlier', async () => {
    const dead = held('dead');
    const first = once(stopped, request, dead.answer);
    await dead.begun;
    nowMs = start + 14_999;
    await expect(once(ctx, request, answered('second'))).rejects.toEqual(inProgress);
    nowMs = start + 15_000;
    expect(await once(ctx, request, answered('second'))).toEqual({ status: 201, body: 'second', replayed: false });

    // The first process was only frozen. Its late answer goes to its own caller, and the stored answer stays.
    dead.finish();
    expect(await first).toEqual({ status: 201, body: 'dead', replayed: false });
    expect(await once(ctx, request, answered('third'))).toEqual({ status: 201, body: 'second', replayed: true });
  });

  it('a retry takes over the Idempotency-Key of a process that died even when the secret key was changed in between', async () => {
    const dead = held('dead');
    const first = once(stopped, request, dead.answer);
    await dead.begun;
    const retry = { ...request, fingerprints: ['same with the new key', ...request.fingerprints] };
    nowMs = start + 14_999;
    await expect(once(ctx, retry, answered('second'))).rejects.toEqual(inProgress);
    nowMs = start + 15_000;
    const other = { ...request, fingerprints: ['other with the new key', 'other'] };
    const reused = expect.objectContaining({ code: 'IDEMPOTENCY_KEY_REUSED' });
    await expect(once(ctx, other, answered('other'))).rejects.toEqual(reused);
    expect(await once(ctx, retry, answered('second'))).toEqual({ status: 201, body: 'second', replayed: false });
    dead.finish();
    await first;
    expect(await once(ctx, retry, answered('third'))).toEqual({ status: 201, body: 'second', replayed: true });
  });

  it('a retry with an Idempotency-Key gets the command id of the first request, even after a change of the secret key', () => {
    const [id] = commandIdsOf(request);
    const ids = (...fingerprints: string[]) => commandIdsOf({ ...request, fingerprints });
    expect(ids('same with the new key', 'same')[1]).toBe(id);
    expect(ids('same with the new key')[0]).toBe(ids('same with the new key', 'same')[0]);
    expect(ids('other with the new key', 'other')).not.toContain(id);
  });

  it('an Idempotency-Key stays taken when an older request fails after a newer one took the key over', async () => {
    const [dead, second] = [held('dead'), held('second')];
    const first = once(stopped, request, dead.answer);
    await dead.begun;
    nowMs = start + 15_000;
    const overtaking = once(ctx, request, second.answer);
    await second.begun;
    dead.fail(new Error('late'));
    await expect(first).rejects.toThrow();
    await expect(once(ctx, request, answered('third'))).rejects.toEqual(inProgress);
    second.finish();
    expect((await overtaking).body).toBe('second');
  });

  it('an Idempotency-Key stays taken while its request runs', async () => {
    const slow = held('slow');
    const leaseMs = 60;
    const first = once(ctx, request, slow.answer, leaseMs);
    await slow.begun;
    for (const elapsed of [59, 118, 177]) {
      nowMs = start + elapsed;
      await until(async () => (await leaseEnd()) === elapsed + leaseMs, 'the lease to be renewed');
      await expect(once(ctx, request, answered('second'))).rejects.toEqual(inProgress);
    }
    slow.finish();
    expect(await first).toEqual({ status: 201, body: 'slow', replayed: false });
    expect(await once(ctx, request, answered('second'))).toEqual({ status: 201, body: 'slow', replayed: true });
  });
});
