/** Interviews whose worker dies, in every state and in the middle of a status change: nothing is lost or done twice. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { goodAnswer, interviewing } from '../kit/interviewing.ts';
import { until } from '../kit/harness.ts';
import { deathOf, removeDataDir, startProcess, systemEnv, type Running, type SystemEnv } from '../kit/processes.ts';
import { Guest } from '../kit/rooms.ts';
import type { InterviewStatus, Operation } from '../../models/rules/interviews/interview.ts';

let env: SystemEnv;
let api: Running;
let kit: Awaited<ReturnType<typeof interviewing>>;
let mine: ReturnType<typeof kit.of>;
beforeAll(async () => {
  env = systemEnv('interviewdeaths', { FLEETS: 'interviews' });
  api = await startProcess('api/server.ts', env);
  kit = await interviewing(env, api.url);
  mine = kit.of(await kit.api.newOrg());
});
afterAll(async () => {
  await kit.close();
  await api.stop();
  await removeDataDir(env);
});

const workers = new Set<Running>();
afterEach(async () => {
  await Promise.all([...workers].map((worker) => worker.stop()));
  workers.clear();
});
async function startWorker(): Promise<Running> {
  const worker = await startProcess('workers/main.ts', env);
  workers.add(worker);
  return worker;
}

/** For each state, the remaining operations up to `completed`. */
const rest: Record<Exclude<InterviewStatus, 'cancelled' | 'completed'>, Operation[]> = {
  draft: ['start', 'join', 'end', 'score'],
  scheduled: ['start', 'join', 'end', 'score'],
  bot_deployed: ['join', 'end', 'score'],
  in_progress: ['end', 'score'],
  evaluating: ['score'],
};
const whole: Operation[] = ['schedule', 'start', 'join', 'end', 'score'];

async function finish(id: string, operations: readonly Operation[]): Promise<void> {
  for (const operation of operations) {
    if (operation === 'join') {
      await mine.answer(id);
      await kit.room(id, 'join');
      continue;
    }
    const path = operation === 'score' ? 'generate-score' : operation;
    // After a crash, a workflow may take longer to answer than the request waits (503). The operation may be done all
    // the same. Then the repetition is refused, and the history is checked.
    await until(
      async () => (await mine.call('POST', `/${id}/${path}`)).status !== 503,
      `${operation} of ${id} to be answered`,
    );
  }
}

describe('a worker that is killed', () => {
  it('after a worker is killed, the next worker completes the interviews of every state', async () => {
    const first = await startWorker();
    const states = Object.keys(rest) as (keyof typeof rest)[];
    const ids = await Promise.all(states.map((status) => mine.bring(status)));
    const final = await Promise.all([mine.bring('completed'), mine.bring('cancelled')]);
    workers.delete(first);
    await first.kill();
    // No worker is running that could decide.
    expect((await mine.call('POST', `/${ids[0]}/start`)).status).toBe(503);
    await startWorker();
    await Promise.all(states.map((status, n) => finish(ids[n]!, rest[status])));
    for (const id of ids) expect((await mine.get(id)).history.map(({ operation }) => operation)).toEqual(whole);
    expect(await Promise.all(final.map(async (id) => (await mine.get(id)).status))).toEqual(['completed', 'cancelled']);
  });

  it('an operation answered with 503 is done once, however often it is repeated with the same Idempotency-Key', async () => {
    const first = await startWorker();
    const [draft, said] = [await mine.bring('draft'), await mine.bring('evaluating')];
    await until(async () => (await mine.call('GET', `/${said}`)).body.data.qa_summary !== null, 'phase 1');
    workers.delete(first);
    await first.stop();
    const order = (path: string) => {
      const headers = { 'idempotency-key': randomUUID() };
      return () => mine.call('POST', path, undefined, headers);
    };
    const [start, evaluate] = [order(`/${draft}/start`), order(`/${said}/evaluate`)];
    expect((await Promise.all([start(), evaluate()])).map(({ status }) => status)).toEqual([503, 503]);
    // The repeated requests find no worker either.
    expect((await Promise.all([start(), evaluate()])).map(({ status }) => status)).toEqual([503, 503]);
    await startWorker();
    const answered = (ask: typeof start) => until(async () => [await ask()].find(({ status }) => status !== 503), 'it');
    expect((await Promise.all([start, evaluate].map(answered))).map(({ status }) => status)).toEqual([200, 200]);
    const made = async (id: string, which: Operation) =>
      (await mine.get(id)).history.filter(({ operation }) => operation === which).length;
    expect([await made(draft, 'start'), await made(said, 'evaluate')]).toEqual([1, 1]);
  });

  it.each([
    ['after a status change was stored and before the workflow knows of it', 'interview stored'],
    ['after the scores were stored and before the workflow knows of them', 'scores stored'],
  ])('when a worker dies %s, the next worker does not repeat the status change', async (_, FAULT) => {
    const first = await startWorker();
    const id = await mine.bring(FAULT === 'scores stored' ? 'evaluating' : 'draft');
    await until(
      async () => FAULT !== 'scores stored' || (await mine.call('GET', `/${id}`)).body.data.qa_summary !== null,
      'phase 1',
    );
    workers.delete(first);
    await first.stop();
    const dying = startProcess('test/kit/worker.ts', { ...env, FAULT, FAULT_OF: id });
    const dead = new AbortController();
    // While no worker is running, calls fail without effect.
    const orders = (async () => {
      while (!dead.signal.aborted)
        await mine.call('POST', `/${id}/${FAULT === 'scores stored' ? 'generate-score' : 'start'}`);
    })();
    expect(await deathOf(dying)).toBe('SIGKILL');
    dead.abort();
    await startWorker();
    await orders;
    if (FAULT === 'scores stored') await finish(id, ['score']);
    await finish(id, FAULT === 'scores stored' ? [] : rest.bot_deployed);
    const { history } = await mine.reached(id, 'completed');
    expect(history.map(({ operation }) => operation)).toEqual(whole);
  });
});

describe('an interview room', () => {
  const questions = [1, 2, 3].map((n) => ({ category: 'technical', body: `What do you know about subject ${n}?` }));
  const agree = { type: 'consent', accepted: true };
  async function started(): Promise<{ id: string; link: string }> {
    const id = await mine.create({ questions });
    const { body } = await mine.call('POST', `/${id}/start`);
    return { id, link: body.data.room.candidate_url as string };
  }
  const operationsOf = async (id: string) => (await mine.get(id)).history.map(({ operation }) => operation);
  it('when the API dies after the consent or the last answer, the interview’s status still changes without a reconnect', async () => {
    await startWorker();
    const { id, link } = await started();
    const first = await startProcess('test/kit/faulty-api.ts', { ...env, FAULT: 'consent stored' });
    const candidate = await new Guest(link).connect(first.url);
    candidate.send(agree);
    expect(await deathOf(Promise.resolve(first))).toBe('SIGKILL');
    await mine.reached(id, 'in_progress');
    candidate.drop();

    const second = await startProcess('test/kit/faulty-api.ts', { ...env, FAULT: 'room finished' });
    const again = await new Guest(link).connect(second.url);
    for (const n of [1, 2, 3]) {
      await again.frame('question', ({ index }) => index === n);
      again.say(goodAnswer(n));
    }
    expect(await deathOf(Promise.resolve(second))).toBe('SIGKILL');
    await mine.reached(id, 'evaluating');
    again.drop();
    const { history } = await mine.get(id);
    expect(history.slice(2).map(({ operation, actor, cause }) => [operation, actor, cause])).toEqual([
      ['join', 'candidate', undefined],
      ['end', 'candidate', 'all_answered'],
    ]);
  });

  it('an interview room continues without a worker, and ends the interview once a worker is back', async () => {
    const worker = await startWorker();
    const { id, link } = await started();
    const candidate = await new Guest(link).connect(api.url);
    candidate.send(agree);
    await candidate.frame('question');
    workers.delete(worker);
    await worker.kill();
    for (const n of [1, 2, 3]) {
      await candidate.frame('question', ({ index }) => index === n);
      candidate.say(goodAnswer(n), `answer-${n}`);
      await candidate.frame('ack', (frame) => frame.client_message_id === `answer-${n}`);
    }
    expect((await mine.get(id)).status).toBe('in_progress');
    await startWorker();
    await mine.reached(id, 'evaluating');
    expect(await candidate.frame('ended')).toMatchObject({ reason: 'all_answered' });
    expect(await operationsOf(id)).toEqual(['schedule', 'start', 'join', 'end']);
    await until(async () => {
      const stored = await kit.db.collection<{ _id: string }>('rooms').findOne({ _id: id });
      return !(stored as { pending?: unknown[] } | null)?.pending?.length;
    }, 'what was left to be settled');
    candidate.drop();
  });
});
