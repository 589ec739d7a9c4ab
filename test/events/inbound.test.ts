/**
 * Inbound events are processed once, in order within their lane (an issue or a thread), and retried on failure,
 * whichever process dies; invalid requests are cheap.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { randomUUID } from 'node:crypto';
import { openClient } from '../kit/database.ts';
import pino from 'pino';
import { conversing } from '../kit/conversing.ts';
import { startBotFramework, type BotFramework } from '../kit/botframework.ts';
import { sendGarbage, verifyingEnv } from '../kit/garbage.ts';
import { apiAt, until, type Api, type TestOrg } from '../kit/harness.ts';
import { arrivedAt, connectLinear, linearEvent, sendLinear } from '../kit/inbound.ts';
import { deathOf, removeDataDir, startProcess, systemEnv, type Running, type SystemEnv } from '../kit/processes.ts';
import type { Fault } from '../kit/worker.ts';
import { createInboundActivities } from '../../activities/events/inbound/index.ts';
import type { Handlers, InboundDeps } from '../../activities/events/inbound/handlers.ts';
import { newId } from '../../models/base/ids.ts';
import { actOn } from '../../models/chat/act.ts';
import { InboundModel, partOf, storeInbound, type Inbound } from '../../models/events/inbound.ts';
import { createLink } from '../../models/events/link.ts';
import { defined } from '../../models/rules/base/defined.ts';
import { expiryOf } from '../../models/rules/base/retention.ts';
import { inboundWaitMs, type InboundProvider } from '../../models/rules/events/inbound.ts';

const { newCustomer } = conversing('inbounddeaths');

describe('processInbound', () => {
  const start = new Date();
  let now = start;
  const recordOf = (orgId: string, lane: string, body: string, key: string = randomUUID()): Inbound => ({
    _id: newId('inbound'),
    provider: 'linear',
    keys: [key],
    org_id: orgId,
    mode: 'test',
    lane,
    part: 0,
    type: 'test',
    body,
    status: 'stored',
    attempts: 0,
    about: [],
    received_at: now,
    expires_at: expiryOf('inbound', now),
  });
  const stored = async (orgId: string, lane: string, body: string): Promise<string> => {
    const record = recordOf(orgId, lane, body);
    await storeInbound(record);
    return record._id;
  };
  const process = (orgId: string, handler: NonNullable<Handlers['linear']>, part?: number) => {
    const deps = { clock: () => now, log: pino({ level: 'silent' }) } as unknown as InboundDeps;
    const { processInbound } = createInboundActivities(deps, { linear: handler });
    const work = () => processInbound({ orgId, ...defined({ part }) });
    return new MockActivityEnvironment().run<[], { againInMs?: number; isBehind?: boolean }, typeof work>(work);
  };
  const statuses = async (orgId: string) =>
    (await InboundModel.find({ org_id: orgId }).sort({ _id: 1 }).lean()).map(({ status }) => status);

  it('events from other services are processed in order within one issue or thread, and concurrently across issues and threads', async () => {
    const orgId = newId('org');
    for (const body of ['a1', 'a2', 'a3']) await stored(orgId, 'a', body);
    await stored(orgId, 'b', 'b1');
    const seen: string[] = [];
    let go = (): void => undefined;
    const first = new Promise<void>((resolve) => (go = resolve));
    await process(orgId, async ({ body }) => {
      if (body === 'a1') await first;
      seen.push(body);
      if (body === 'b1') go();
      return { outcome: 'done' };
    });
    expect(seen).toEqual(['b1', 'a1', 'a2', 'a3']);
    expect(await InboundModel.countDocuments({ org_id: orgId, status: 'processed', body: '' })).toBe(4);
  });

  it('several concurrent inbound events are all stored, but events with the same key only once', async () => {
    const orgId = newId('org');
    now = start;
    const key = randomUUID();
    const outcomes = await Promise.all(
      Array.from({ length: 9 }, (_, at) =>
        storeInbound(recordOf(orgId, 'a', `b${at}`, at % 3 === 0 ? key : randomUUID())),
      ),
    );
    expect(outcomes.filter(Boolean)).toHaveLength(7);
    const bodies = (await InboundModel.find({ org_id: orgId }).lean()).map(({ body }) => body);
    const stored = outcomes.flatMap((isNew, at) => (isNew ? [`b${at}`] : []));
    expect(bodies.toSorted()).toEqual(stored);
  });

  it('while an inbound event is processed, only events of the same issue or thread wait', async () => {
    const orgId = newId('org');
    now = start;
    await stored(orgId, 'a', 'a1');
    const seen: string[] = [];
    const later = Promise.withResolvers<void>();
    await process(orgId, async ({ body }) => {
      if (body === 'a1') {
        await stored(orgId, 'a', 'a2');
        await stored(orgId, 'b', 'b1');
        await later.promise;
      }
      seen.push(body);
      if (body === 'b1') later.resolve();
      return { outcome: 'done' };
    });
    expect(seen).toEqual(['b1', 'a1', 'a2']);
  });

  it('while one worker processes one partition of the inbound events, other workers can process the other partitions', async () => {
    const orgId = newId('org');
    now = start;
    await stored(orgId, 'a', 'a1');
    const ofOther = { ...recordOf(orgId, 'b', 'b1'), part: 1 };
    await storeInbound(ofOther);
    const seen: string[] = [];
    const handled = Promise.withResolvers<void>();
    const handler: NonNullable<Handlers['linear']> = async ({ body }) => {
      // The handler of the event `a1` ends only after the handler of `b1`, an event of the other part.
      if (body === 'a1') await handled.promise;
      seen.push(body);
      handled.resolve();
      return { outcome: 'done' };
    };
    const first = process(orgId, handler, 0);
    await process(orgId, handler, 1);
    await first;
    expect(seen).toEqual(['b1', 'a1']);
  });

  it('a run of processInbound processes inbound events up to its limit, and reports a backlog when there are more', async () => {
    const orgId = newId('org');
    now = start;
    await Promise.all(Array.from({ length: 201 }, (_, n) => stored(orgId, `lane ${n}`, 'x')));
    const done = () => Promise.resolve({ outcome: 'done' });
    expect(await process(orgId, done)).toEqual({ isBehind: true });
    expect(await InboundModel.countDocuments({ org_id: orgId, part: 0, status: 'stored' })).toBe(1);
    expect(await process(orgId, done)).toEqual({});
  });

  it('issues and threads are spread evenly over four partitions, and an issue always has the same partition', () => {
    const counts = Map.groupBy(
      Array.from({ length: 400 }, (_, n) => partOf(`issue ${n}`)),
      (part) => part,
    );
    expect([...counts.keys()].toSorted()).toEqual([0, 1, 2, 3]);
    for (const found of counts.values()) expect(found.length).toBeGreaterThan(60);
    expect(partOf('issue 1')).toBe(partOf('issue 1'));
  });

  it('a failed inbound event is retried and finally given up, and delays only later events of the same issue or thread', async () => {
    const orgId = newId('org');
    now = start;
    await stored(orgId, 'a', 'bad');
    await stored(orgId, 'a', 'after');
    await stored(orgId, 'b', 'good');
    let tries = 0;
    const handler: NonNullable<Handlers['linear']> = ({ body }) => {
      if (body !== 'bad') return Promise.resolve({ outcome: 'done' });
      tries += 1;
      return Promise.reject(new Error('not today'));
    };
    const waits: number[] = [];
    for (;;) {
      const { againInMs } = await process(orgId, handler);
      if (againInMs === undefined) break;
      waits.push(againInMs);
      if (waits.length === 1) expect(await statuses(orgId)).toEqual(['stored', 'stored', 'processed']);
      now = new Date(now.getTime() + againInMs);
    }
    expect(waits).toEqual([1, 2, 3, 4, 5, 6, 7].map((attempt) => inboundWaitMs(attempt)));
    expect([tries, await statuses(orgId)]).toEqual([8, ['failed', 'processed', 'processed']]);
    expect(await InboundModel.findOne({ org_id: orgId, status: 'failed' }).lean()).toMatchObject({
      reason: 'not today',
    });
  });

  it('the result of an attempt to process an inbound event is ignored when another worker has taken the event over meanwhile', async () => {
    const orgId = newId('org');
    now = start;
    const id = await stored(orgId, 'a', 'x');
    let runs = 0;
    await process(orgId, async () => {
      runs += 1;
      if (runs > 1) return { outcome: 'the later one' };
      // Meanwhile another worker takes the event, as from a worker that was believed dead.
      await process(orgId, () => Promise.resolve({ outcome: 'the later one' }));
      return { outcome: 'the first one' };
    });
    expect(await InboundModel.findById(id).lean()).toMatchObject({ status: 'processed', outcome: 'the later one' });
  });

  it('processInbound ignores an event of a provider without a handler, and stores the reason', async () => {
    const orgId = newId('org');
    await stored(orgId, 'a', 'x');
    const deps = { clock: () => now, log: pino({ level: 'silent' }) } as unknown as InboundDeps;
    const { processInbound } = createInboundActivities(deps, {});
    await new MockActivityEnvironment().run(() => processInbound({ orgId }));
    expect(await InboundModel.findOne({ org_id: orgId }).lean()).toMatchObject({
      status: 'ignored',
      reason: 'Nothing here takes events of linear.',
    });
  });
});

describe('a signed event of an undocumented form', () => {
  const issue = { type: 'Issue', action: 'update', data: { id: 'i1' } };
  const hook = { action: 'closed', repository: { id: 1 }, issue: { number: 1 } };
  const teams = (more: object) => {
    const written = { type: 'message', serviceUrl: 'https://x', conversation: { id: 'c' }, text: 'hi', ...more };
    return { activity: JSON.stringify(written) };
  };
  const ses = (more: object) => ({ thread_id: 't', notification: JSON.stringify(more) });
  it.each<[InboundProvider, string, unknown]>([
    ['linear', 'Issue.update', null],
    ['linear', 'Issue.update', []],
    ['linear', 'Issue.update', { ...issue, type: 42 }],
    ['linear', 'Issue.update', { ...issue, action: null }],
    ['linear', 'Issue.update', { ...issue, data: null }],
    ['linear', 'Issue.update', { ...issue, data: { id: 42 } }],
    ['linear', 'Issue.update', { ...issue, data: { id: 'i1', title: 42 } }],
    ['linear', 'Issue.update', { ...issue, data: { id: 'i1', state: 'done' } }],
    ['linear', 'Issue.update', { ...issue, updatedFrom: 'x' }],
    ['github', 'issues.closed', null],
    ['github', 'issues.closed', { ...hook, issue: null }],
    ['github', 'issues.closed', { ...hook, issue: { number: '1' } }],
    ['github', 'issues.closed', { ...hook, repository: { id: null } }],
    ['teams', 'message', teams({ text: 42 })],
    ['teams', 'message', teams({ from: 'x' })],
    ['teams', 'message', teams({ conversation: null })],
    ['email', 'mail', ses({ notificationType: 'Received', receipt: null })],
    ['email', 'mail', ses({ notificationType: 42 })],
  ])(
    'a signed event from %s (%s) in an undocumented form is ignored, and is not retried: %j',
    async (provider, type, body) => {
      const record: Inbound = {
        _id: newId('inbound'),
        provider,
        keys: [randomUUID()],
        org_id: newId('org'),
        mode: 'live',
        about: [],
        lane: 'one',
        part: 0,
        type,
        body: JSON.stringify(body),
        status: 'stored',
        attempts: 0,
        received_at: new Date(),
        expires_at: expiryOf('inbound', new Date()),
      };
      await storeInbound(record);
      const deps = { clock: () => new Date(), log: pino({ level: 'silent' }) } as unknown as InboundDeps;
      const { processInbound } = createInboundActivities(deps);
      await new MockActivityEnvironment().run(() => processInbound({ orgId: record.org_id }));
      expect(await InboundModel.findById(record._id).lean()).toMatchObject({
        status: 'ignored',
        attempts: 1,
        reason: expect.stringMatching(/cannot be understood|not about a mail/),
      });
    },
  );
});

describe('an API that takes the events of every service', () => {
  let microsoft: BotFramework;
  let env: SystemEnv;
  let running: Running;
  let api: Api;
  let org: TestOrg;
  const team = randomUUID();
  beforeAll(async () => {
    microsoft = await startBotFramework();
    env = systemEnv('inbounddeaths', { FLEETS: 'inbound' });
    running = await startProcess('api/server.ts', { ...env, ...verifyingEnv(microsoft) });
    api = apiAt(running.url);
    org = await api.newOrg();
    await connectLinear(org.orgId, { team });
  });
  afterAll(async () => {
    await running.stop();
    await microsoft.close();
    await removeDataDir(env);
  });

  it('the events that a dying worker had claimed are processed in order, and take effect once', async () => {
    const faults: Fault[] = [
      'event claimed',
      'others settled',
      'customer told',
      'ticket resolved',
      'before the event is settled',
    ];
    const send = async (issue: string, stateId: string): Promise<void> => {
      const state = { id: stateId, name: stateId, type: stateId === 'done' ? 'completed' : 'started' };
      const data = { id: issue, teamId: team, stateId, state };
      const event = linearEvent({ action: 'update', type: 'Issue', data, updatedFrom: { stateId: 'todo' } });
      expect((await sendLinear(api, event)).status).toBe(200);
    };
    const tickets = [];
    for (const [at, fault] of faults.entries()) {
      const customer = await newCustomer(org.orgId);
      await customer.say('Hello');
      const { ticket } = await actOn(org.orgId, customer.convId, 'escalate', { now: new Date(), reason: 'member' });
      const issue = randomUUID();
      const of = { org_id: org.orgId, mode: 'test', provider: 'linear', external: issue, kind: 'ticket' } as const;
      await createLink({ ...of, subject_id: ticket!.ticket_id, conv_id: customer.convId, created_at: new Date() });
      tickets.push(customer);
      // Events of three unrelated issues and of the ticket's issue; all are stored first, so that they are claimed
      // together.
      const others = [randomUUID(), randomUUID(), randomUUID()];
      for (const stateId of ['doing', 'done']) for (const one of [...others, issue]) await send(one, stateId);
      const dying = startProcess('test/kit/worker.ts', { ...env, FAULT: fault });
      expect([fault, await deathOf(dying)]).toEqual([fault, 'SIGKILL']);
      expect(await InboundModel.countDocuments({ org_id: org.orgId, status: 'stored' })).toBeGreaterThan(0);
      if (at < faults.length - 1) continue;
      const worker = await startProcess('workers/main.ts', env);
      await arrivedAt(api, org.orgId, org.owner.token, 8 * faults.length);
      await worker.stop();
    }
    for (const { conversation, messages } of tickets) {
      const { status, events } = await conversation();
      expect([status, events.filter(({ type }) => type === 'ticket.resolved').length]).toEqual(['resolved', 1]);
      expect((await messages()).filter(({ sender_id }) => sender_id === 'linear')).toHaveLength(1);
    }
    const all = await InboundModel.find({ org_id: org.orgId }).sort({ _id: 1 }).lean();
    expect(all.every(({ attempts, pending }) => attempts === 1 && pending === undefined)).toBe(true);
    for (const [first, second] of Map.groupBy(all, ({ lane }) => lane).values())
      expect(second!.settled_at!.getTime()).toBeGreaterThanOrEqual(first!.settled_at!.getTime());
  });

  it('hundreds of invalid requests to all webhook routes are refused, store nothing, and never cause an internal error', async () => {
    const mongo = await openClient(env['MONGODB_URI']!);
    const stored = () => mongo.db().collection('inbound').countDocuments();
    const before = await stored();
    expect(Object.keys(await sendGarbage(api, 300))).toEqual(['401']);
    expect(await stored()).toBe(before);
    await until(async () => (await api.request('GET', '/health/ready')).status === 200, 'the API to be ready');
    await mongo.close();
  });
});
