/** Concurrent acts on one conversation, and processes that die between two writes: the models on a real database. */
import { describe, expect, it } from '@jest/globals';
import pino from 'pino';
import { modelsIn } from '../kit/database.ts';
import { withoutEmbedding } from '../kit/intelligence.ts';
import { createAnswering, type AnsweringDeps } from '../../activities/chat/answer.ts';
import type { Choice, Intelligence } from '../../intelligence/intelligence.ts';
import { createOffline } from '../../intelligence/offline/offline.ts';
import { actOn, type ActOptions } from '../../models/chat/act.ts';
import {
  ConversationModel,
  countEscalated,
  findConversation,
  noteAsked,
  placeAnswer,
} from '../../models/chat/conversation.ts';
import { findStanding, provideConversation, removeEmpty } from '../../models/chat/current.ts';
import { removedAmong, streamOf } from '../../models/chat/log.ts';
import { startStored, storeMessage } from '../../models/chat/saying.ts';
import { listCounted } from '../../models/chat/statistics.ts';
import { addNote, removeNote, setPriority, setTags, snooze, unsnooze, wake } from '../../models/chat/triage.ts';
import { countMissed, markRead, uncountMessage } from '../../models/chat/unread.ts';
import { maxNotes } from '../../models/rules/chat/triage.ts';
import { newId } from '../../models/base/ids.ts';
import { countInbox, listInbox, listInboxOf } from '../../models/chat/inbox.ts';
import {
  claimAnswer,
  findAnswer,
  findClientMessage,
  holdsAnswer,
  insertMessage,
  listMessages,
  settleMessage,
  type Message,
} from '../../models/chat/message.ts';
import { lastFrame, Superseded } from '../../models/live/frame.ts';
import { callsFor, createToolCall, type ToolCall } from '../../models/mcp/call.ts';
import type { Intent } from '../../models/base/pending.ts';
import type { Act } from '../../models/rules/chat/conversation.ts';
import { Problem } from '../../models/rules/base/errors.ts';
import { grouped } from '../../models/rules/chat/statistics.ts';

modelsIn('conversationraces');

const orgId = newId('org');
const begin = async (now = new Date()) => (await provideConversation(orgId, 'test', newId('customer'), now))._id;
const read = async (convId: string) => (await findConversation(orgId, convId))!;
const act = (convId: string, what: Act, more: Partial<ActOptions> = {}) =>
  actOn(orgId, convId, what, { now: new Date(), ...more });
const said = (body: string) => ({ message: { body, byCustomer: true } });
const intent = (key: string): Intent => ({
  key,
  signal: 'attend',
  workflow: 'w',
  workflow_id: 'w:1',
  queue: 'q',
  args: [],
  since: new Date(),
  next_at: new Date(),
  tries: 0,
});

/** Returns the message's position and the ticket, or null when the conversation's status does not allow the act. */
async function tried(doing: ReturnType<typeof act>) {
  return doing.catch((error: unknown) => {
    if (error instanceof Problem && error.code === 'CONFLICT') return null;
    throw error;
  });
}
const range = (n: number) => Array.from({ length: n }, (_, i) => i);

/** A customer's message that waits for its answer. */
async function waiting({
  body = 'Hello?',
  ...more
}: Partial<Pick<Message, 'body' | 'calls' | 'attempts'>> = {}): Promise<Message> {
  const convId = await begin();
  const { position } = await act(convId, 'message', said(body));
  const asked = { _id: newId('message'), org_id: orgId, conv_id: convId, mode: 'test', body, at: new Date() } as const;
  const reply_id = newId('message');
  return (await insertMessage({ ...asked, role: 'customer', position, state: 'waiting', reply_id, ...more }))!;
}

/** Stores a tool call that was made for the message and has ended. */
const storeEnded = ({ _id: message_id, conv_id }: Message, ended: Partial<ToolCall>) =>
  createToolCall({
    _id: newId('toolCall'),
    org_id: orgId,
    mode: 'test',
    conv_id,
    customer_id: newId('customer'),
    message_id,
    ordinal: 1,
    tool_name: 'refund',
    risk_tier: 'customer_confirm',
    auth_scope: 'public',
    pin: 'p',
    arguments: '{}',
    arguments_sha256: 'a',
    state: 'ended',
    held_back: 0,
    created_at: new Date(),
    ...ended,
  });

const offline = createOffline({ embedding: withoutEmbedding });
/** Answers the message as a worker does, without documents. `replaced`: jobs that are not done by the offline rules. */
async function answerTo(
  message: Message,
  replaced: Partial<Intelligence> = {},
  onlySure = false,
  start: (model: unknown) => Promise<void> = async () => undefined,
) {
  const conversation = await read(message.conv_id);
  const { answer } = createAnswering({
    intelligence: { ...offline, ...replaced },
    embedding: withoutEmbedding,
    testRepliesPerMinute: 1_000,
    start,
    startNear: async () => undefined,
    clock: () => new Date(),
    log: pino({ level: 'silent' }),
  } as unknown as AnsweringDeps);
  const last = await lastFrame(streamOf(conversation));
  return answer(conversation, message, { last, onlySure }, new AbortController().signal);
}

describe('a hundred concurrent actions on one conversation', () => {
  it('a hundred concurrent actions number a conversation’s messages without gaps, and count every unread message', async () => {
    const convId = await begin();
    const others: Act[] = ['assign', 'unassign', 'escalate', 'resolve', 'reopen'];
    const done = await Promise.all(
      range(100).map(async (i) =>
        i % 5 < 3
          ? (await act(convId, 'message', said(`${i}`))).position
          : tried(act(convId, others[i % others.length]!, { assignTo: 'usr_1', attend: true })),
      ),
    );
    const conversation = await read(convId);
    const positions = done.filter((one) => typeof one === 'number');
    expect(positions.toSorted((a, b) => a - b)).toEqual(range(60).map((i) => i + 1));
    expect([conversation.position, conversation.unread]).toEqual([60, 60]);
    const signals = conversation.pending?.filter(({ workflow }) => workflow === 'conversation') ?? [];
    expect(new Set(signals.map(({ key }) => key)).size).toBe(
      done.filter((one) => one !== null).length - positions.length,
    );
    expect(conversation.preview).toMatch(/^\d+$/);
  });

  it('when many actions change a conversation at once, each status change of its ticket is one event, in an allowed order', async () => {
    const convId = await begin();
    const kinds: Act[] = ['escalate', 'resolve', 'reopen', 'reply', 'end'];
    await Promise.all(range(100).map((i) => tried(act(convId, kinds[i % kinds.length]!, { reason: 'member' }))));
    const { events, ticket } = await read(convId);
    expect(events.map(({ seq }) => seq)).toEqual(range(events.length).map((i) => i + 1));
    const [first, second, ...rest] = events.map(({ type }) => type);
    expect([first, second]).toEqual(['ticket.created', 'ticket.escalated']);
    // Two "resolved" events never follow each other without an escalation or a reply in between; a reply has no event.
    // How many escalations are refused because the ticket is already escalated is left to chance; an end is never
    // refused.
    expect(rest).toContain('ticket.resolved');
    expect(rest.filter((type) => type !== 'ticket.escalated' && type !== 'ticket.resolved')).toEqual([]);
    expect(new Set(events.map(({ event_id }) => event_id)).size).toBe(events.length);
    const last = events.at(-1)!;
    if (ticket?.status === 'escalated') expect(last.type).toBe('ticket.escalated');
    if (ticket?.status === 'resolved' || ticket?.status === 'closed') expect(last.type).toBe('ticket.resolved');
  });

  it('concurrent actions increase a conversation’s status version only when its status changes', async () => {
    const convId = await begin();
    await act(convId, 'escalate', { reason: 'asked' });
    const { status_version } = await read(convId);
    await Promise.all(
      range(20).map((i) =>
        i % 2 === 0 ? act(convId, 'assign', { assignTo: `usr_${i}` }) : act(convId, 'message', said('Hello?')),
      ),
    );
    const conversation = await read(convId);
    expect([conversation.status, conversation.status_version]).toEqual(['escalated', status_version]);
    await act(convId, 'resolve');
    expect((await read(convId)).status_version).toBe(status_version + 1);
  });
});

describe('two members who act at the same time', () => {
  it('when one member replies while another resolves, both succeed, and the later act decides the status', async () => {
    const ends = await Promise.all(
      range(20).map(async () => {
        const convId = await begin();
        await act(convId, 'message', said('Hello?'));
        const reply = { message: { body: 'Hello.', byCustomer: false } };
        const [replied, resolved] = await Promise.all([act(convId, 'reply', reply), act(convId, 'resolve')]);
        const { status, position, version } = await read(convId);
        expect([replied.position, position, version]).toEqual([2, 2, 2]);
        return resolved.version === 2 ? [status, 'resolved'] : [status, 'pending'];
      }),
    );
    for (const [status, expected] of ends) expect(status).toBe(expected);
  });

  it('two concurrent assignments of a conversation both succeed, and one of the two assignees remains', async () => {
    const convId = await begin();
    await Promise.all(['usr_a', 'usr_b'].map((assignTo) => act(convId, 'assign', { assignTo })));
    const { assigned_to, version } = await read(convId);
    expect(['usr_a', 'usr_b']).toContain(assigned_to);
    expect(version).toBe(2);
  });

  it('when two members resolve a conversation at the same time, one succeeds and the other is refused', async () => {
    const convId = await begin();
    const results = await Promise.all(range(2).map(() => tried(act(convId, 'resolve'))));
    expect(results.filter((one) => one === null)).toHaveLength(1);
  });

  it('when several members escalate a conversation at the same time, one succeeds, the others are refused, and there is one ticket', async () => {
    const convId = await begin();
    const results = await Promise.all(range(5).map(() => tried(act(convId, 'escalate', { note: 'Please.' }))));
    expect(results.filter((one) => one !== null)).toHaveLength(1);
    const { ticket, events } = await read(convId);
    expect([ticket?.note, events.length]).toEqual(['Please.', 2]);
  });
});

describe('a customer who writes back after a member has answered', () => {
  it('a customer who writes back after a member answered gets one ticket, however many messages arrive at the same time', async () => {
    const convId = await begin();
    await act(convId, 'message', said('Hello?'));
    await act(convId, 'reply', { message: { body: 'Hello.', byCustomer: false } });
    expect((await read(convId)).ticket).toBeUndefined();
    await Promise.all(range(10).map((i) => act(convId, 'message', said(`${i}`))));
    const { status, ticket, events, unread } = await read(convId);
    expect([status, unread]).toEqual(['escalated', 11]);
    expect(ticket).toMatchObject({ status: 'escalated', reason: 'replied' });
    expect(events.map(({ seq, type, ticket_status }) => [seq, type, ticket_status])).toEqual([
      [1, 'ticket.created', 'escalated'],
      [2, 'ticket.escalated', 'escalated'],
    ]);
  });

  it('a customer who writes back after a member’s reply keeps the existing ticket, and no ticket event is added', async () => {
    const convId = await begin();
    await act(convId, 'escalate', { reason: 'asked' });
    const { ticket: first } = await act(convId, 'reply', { message: { body: 'Hello.', byCustomer: false } });
    const { status, ticket, events } = await act(convId, 'message', said('And?'));
    expect([status, events.length]).toEqual(['escalated', 2]);
    expect(ticket).toMatchObject({ ticket_id: first!.ticket_id, status: 'open', reason: 'asked' });
  });
});

describe('the intent to signal a workflow', () => {
  it('a message stores a workflow signal to be sent only if the message changes the conversation’s status', async () => {
    const convId = await begin();
    const saying = (body: string) => act(convId, 'message', { ...said(body), attend: true });
    const waiting = async () => (await read(convId)).pending?.map(({ workflow }) => workflow) ?? [];
    await saying('open');
    expect(await waiting()).toEqual([]);
    await act(convId, 'resolve');
    await Promise.all(range(10).map((i) => saying(`${i}`)));
    expect(await waiting()).toEqual(['conversation']);
    await act(convId, 'escalate', { attend: true });
    expect(await waiting()).toEqual(['conversation', 'conversation', 'ticketEvents', 'notices']);
  });

  it.each(['open', 'resolved'] as const)(
    'a message to a conversation that is %s signals the conversation’s workflow exactly once',
    async (status) => {
      const convId = await begin();
      if (status === 'resolved') await act(convId, 'resolve');
      const ref = { _id: convId, org_id: orgId, mode: 'test' } as const;
      const stored = await storeMessage(ref, { body: 'Hello' }, { verified: true }, new Date(), async () => undefined);
      const started: string[] = [];
      await startStored(stored, async (_model, record, intents) => {
        started.push(...intents.map(({ workflow }) => `${record._id} ${workflow}`));
      });
      expect(started).toEqual([`${stored.message?._id} conversation`]);
      expect((await read(convId)).pending ?? []).toEqual([]);
    },
  );
});

describe('a resolved ticket that is escalated again', () => {
  it('a resolved ticket that is escalated again keeps its id, continues the numbers of its events, and gets the new reason', async () => {
    const convId = await begin();
    await act(convId, 'escalate', { reason: 'member', note: 'A refund.' });
    const first = (await read(convId)).ticket!;
    await act(convId, 'reply', { message: { body: 'Done.', byCustomer: false } });
    expect((await read(convId)).ticket).toMatchObject({ status: 'pending', reason: 'member', note: 'A refund.' });
    await act(convId, 'resolve');
    await act(convId, 'message', said('Again!'));
    const { ticket, events } = await act(convId, 'escalate', { reason: 'no_context' });
    expect(ticket).toMatchObject({ ticket_id: first.ticket_id, status: 'escalated', reason: 'no_context' });
    expect(ticket?.note).toBeUndefined();
    expect(events.map(({ seq, type }) => [seq, type])).toEqual([
      [1, 'ticket.created'],
      [2, 'ticket.escalated'],
      [3, 'ticket.resolved'],
      [4, 'ticket.escalated'],
    ]);
  });
});

describe('marking a conversation as read', () => {
  const unread = async (convId: string) => (await read(convId)).unread;

  it('a message that is counted as unread before the conversation is read, but stored afterwards, stays unread', async () => {
    const convId = await begin();
    await act(convId, 'message', said('One'));
    const { reads } = await act(convId, 'message', said('Two'));
    await markRead(orgId, convId, new Date());
    expect(await unread(convId)).toBe(0);
    await countMissed(orgId, convId, reads);
    expect(await unread(convId)).toBe(1);
    await markRead(orgId, convId, new Date());
    expect(await unread(convId)).toBe(0);
  });

  it('a message that arrives after the conversation was marked as read is counted as unread once', async () => {
    const convId = await begin();
    await act(convId, 'message', said('One'));
    await markRead(orgId, convId, new Date());
    const { reads } = await act(convId, 'message', said('Two'));
    await countMissed(orgId, convId, reads);
    expect(await unread(convId)).toBe(1);
  });

  it('marking a conversation as read also clears the unread count of a message that was never stored because its process died', async () => {
    const convId = await begin();
    await act(convId, 'message', said('Never stored'));
    await markRead(orgId, convId, new Date());
    expect(await unread(convId)).toBe(0);
  });

  it('a conversation counts as changed at the time when it was marked as read', async () => {
    const convId = await begin();
    await act(convId, 'message', said('Hello?'));
    const later = new Date(Date.now() + 3_600_000);
    const changed = async () =>
      (await listInboxOf(orgId, ['test'], { since: later, limit: 1_000 })).map(({ _id }) => _id).includes(convId);
    expect(await changed()).toBe(false);
    await markRead(orgId, convId, later);
    expect(await changed()).toBe(true);
  });

  it('subtracting a repeated message from the unread count after the conversation was read leaves a later message unread', async () => {
    const convId = await begin();
    await act(convId, 'message', said('One'));
    const { reads } = await act(convId, 'message', said('One'));
    await markRead(orgId, convId, new Date());
    await act(convId, 'message', said('Two'));
    await uncountMessage(orgId, convId, reads);
    expect(await unread(convId)).toBe(1);
  });

  it('a reply does not mark a conversation as read, so that earlier messages stay unread', async () => {
    const convId = await begin();
    await act(convId, 'message', said('My card was stolen!'));
    await act(convId, 'reply', { message: { body: 'Hello.', byCustomer: false } });
    expect(await unread(convId)).toBe(1);
  });
});

describe('a customer with several unresolved conversations', () => {
  const now = new Date();
  const provide = (customerId: string) => provideConversation(orgId, 'live', customerId, now);
  const at = (minute: number) => ({ now: new Date(now.getTime() + minute * 60_000) });

  it('a customer with several unresolved conversations continues the one with the latest message', async () => {
    const customer = newId('customer');
    const { _id: first } = await provide(customer);
    await act(first, 'message', { ...said('One'), ...at(1) });
    await act(first, 'resolve');
    const { _id: second } = await provide(customer);
    expect(second).not.toBe(first);
    expect((await provide(customer))._id).toBe(second);
    await act(first, 'reopen');
    expect((await provide(customer))._id).toBe(first);
    expect((await findStanding(orgId, 'live', customer))?._id).toBe(first);
    await act(second, 'message', { ...said('Two'), ...at(2) });
    expect((await provide(customer))._id).toBe(second);
    await act(first, 'reply', { message: { body: 'Hello.', byCustomer: false }, ...at(3) });
    expect((await provide(customer))._id).toBe(first);
  });

  it('when a conversation is reopened, its customer’s empty conversations are removed, and no others', async () => {
    const customer = newId('customer');
    const { _id: first } = await provide(customer);
    await act(first, 'message', said('One'));
    await act(first, 'resolve');
    const { _id: empty } = await provide(customer);
    const { _id: others } = await provide(newId('customer'));
    const inTest = await provideConversation(orgId, 'test', customer, now);
    await removeEmpty(await act(first, 'reopen'));
    expect(await findConversation(orgId, empty)).toBeNull();
    for (const convId of [first, others, inTest._id]) expect(await read(convId)).toMatchObject({ status: 'open' });
    await act(first, 'resolve');
    const { _id: written } = await provide(customer);
    await act(written, 'message', said('Two'));
    await removeEmpty(await act(first, 'reopen'));
    expect(await read(written)).toMatchObject({ preview: 'Two' });
  });

  it('a customer without an open conversation gets one, however many connections arrive at the same time', async () => {
    const customer = newId('customer');
    for (let round = 0; round < 5; round++) {
      const begun = new Set((await Promise.all(range(20).map(() => provide(customer)))).map(({ _id }) => _id));
      expect(begun.size).toBe(1);
      const [convId] = [...begun];
      await act(convId!, 'message', said('Hello'));
      await act(convId!, 'resolve');
    }
  });
});

describe('the context that a session was minted with', () => {
  it('the first message of a session stores the session’s context, or removes the stored one when the session has none', async () => {
    const convId = await begin();
    const say = (id: string, context?: Record<string, unknown>) =>
      act(convId, 'message', { ...said(id), session: { id, context } });
    const known = async () => (await read(convId)).session_context;
    await say('a');
    expect(await known()).toBeUndefined();
    await say('b', { plan: 'gold' });
    await act(convId, 'assign', { assignTo: 'usr_1' });
    expect(await known()).toEqual({ session_id: 'b', context: { plan: 'gold' } });
    await say('c', { plan: 'silver' });
    await say('c', { plan: 'silver' });
    expect(await known()).toEqual({ session_id: 'c', context: { plan: 'silver' } });
    await say('d', {});
    expect(await known()).toBeUndefined();
  });
});

describe('the list of conversations', () => {
  it('a write by a process with a slow clock never moves a conversation down the list of conversations', async () => {
    const own = newId('org');
    const now = new Date('2026-05-01T12:00:00Z');
    const ids: string[] = [];
    for (const minute of [1, 2, 3]) {
      const { _id } = await provideConversation(own, 'live', newId('customer'), now);
      await actOn(own, _id, 'message', { now: new Date(now.getTime() + minute * 60_000), ...said('Hello') });
      ids.push(_id);
    }
    await actOn(own, ids[2]!, 'message', { now, ...said('Slow') });
    const listed = await listInbox(own, { modes: ['live'] }, { limit: 10 });
    expect(listed.map(({ _id }) => _id)).toEqual(ids.toReversed());
    expect(await countInbox(own, { modes: ['live'] })).toEqual({ count: 3, unread: 4 });
    expect(await countInbox(own, { modes: ['test'] })).toEqual({ count: 0, unread: 0 });
  });

  it('the pages of the list of conversations repeat and omit none, even when several conversations have the same time', async () => {
    const own = newId('org');
    const now = new Date();
    for (let i = 0; i < 7; i++) {
      const { _id } = await provideConversation(own, 'test', newId('customer'), now);
      await actOn(own, _id, 'message', { now, ...said('Hello') });
    }
    const seen: string[] = [];
    for (;;) {
      const last = seen.at(-1);
      const after = last === undefined ? undefined : { at: now, convId: last };
      const page = await listInbox(own, { modes: ['test'] }, { limit: 2, after });
      if (page.length === 0) break;
      seen.push(...page.map(({ _id }) => _id));
    }
    expect([seen.length, new Set(seen).size]).toEqual([7, 7]);
    expect(seen).toEqual(seen.toSorted().toReversed());
  });

  it('the list of conversations is read page by page from an index, and its totals are counted without reading records', async () => {
    const own = newId('org');
    let at = Date.now();
    for (const status of ['open', 'resolved'] as const) {
      for (let i = 0; i < 5; i++) {
        const now = new Date((at += 1));
        const { _id } = await provideConversation(own, 'live', newId('customer'), now);
        await actOn(own, _id, 'message', { now, ...said('Hello') });
        if (status === 'resolved') await actOn(own, _id, 'resolve', { now });
      }
    }
    const db = ConversationModel.db.db!;
    await db.command({ profile: 2 });
    const filter = { modes: ['test', 'live'] as const };
    const first = await listInbox(own, filter, { limit: 3 });
    const after = { at: first[2]!.last_message_at!, convId: first[2]!._id };
    const rest = await listInbox(own, filter, { limit: 3, after });
    const totals = await countInbox(own, filter);
    await db.command({ profile: 0 });
    expect(new Set([...first, ...rest].map(({ _id }) => _id)).size).toBe(6);
    expect(totals).toEqual({ count: 10, unread: 10 });
    const profiled = await db
      .collection('system.profile')
      .find({}, { sort: { ts: 1 } })
      .toArray();
    const cost = profiled.map((one) => [one['nreturned'], one['docsExamined'], one['hasSortStage'] ?? false]);
    expect(cost).toEqual([
      [3, 3, false],
      // The last entry of the previous page is examined again.
      [3, 4, false],
      [1, 0, false],
    ]);
  });
});

describe('a client_message_id', () => {
  it('a client_message_id is unique per sender: a customer and two members may use the same one', async () => {
    const convId = await begin();
    const insert = (position: number, sender: { sender_id?: string }) =>
      insertMessage({
        _id: newId('message'),
        org_id: orgId,
        conv_id: convId,
        mode: 'test',
        role: sender.sender_id ? 'agent' : 'customer',
        body: `${position}`,
        position,
        at: new Date(),
        client_message_id: '1',
        ...sender,
      });
    for (const [i, sender] of [{}, { sender_id: 'usr_a' }, { sender_id: 'usr_b' }].entries()) {
      expect(await insert(i, sender)).not.toBeNull();
      expect(await insert(9, sender)).toBeNull();
    }
    const bodies = [undefined, 'usr_a', 'usr_b'].map(
      async (sender) => (await findClientMessage({ _id: convId, org_id: orgId }, '1', sender))?.body,
    );
    expect(await Promise.all(bodies)).toEqual(['0', '1', '2']);
  });
});

describe('the claim to answer a message', () => {
  /** Another attempt takes over the claim. */
  async function overtake({ conv_id }: Message): Promise<void> {
    const [standing] = await listMessages(orgId, conv_id, { limit: 1 });
    expect(await claimAnswer(standing!, 'successor')).toBe(true);
  }

  it('when several attempts claim the same message at the same time, exactly one of them may answer the message', async () => {
    const message = await waiting();
    const attempts = range(10).map(String);
    const claimed = await Promise.all(attempts.map((attempt) => claimAnswer(message, attempt)));
    expect(claimed.filter(Boolean)).toHaveLength(1);
    const held = await Promise.all(attempts.map((attempt) => holdsAnswer(orgId, message._id, attempt)));
    expect(held).toEqual(claimed);
  });

  it('a new attempt may take over the claim to answer a message, but an attempt that was overtaken may not', async () => {
    const message = await waiting();
    expect(await claimAnswer(message, 'first')).toBe(true);
    const second = { ...message, attempt: 'first' };
    expect(await claimAnswer(second, 'second')).toBe(true);
    // The sleeping worker was frozen past its timeout, and continues with the state that it had read.
    expect([await claimAnswer(message, 'sleeper'), await claimAnswer(second, 'sleeper')]).toEqual([false, false]);
    expect(await holdsAnswer(orgId, message._id, 'second')).toBe(true);
    await settleMessage(orgId, message._id, 'answered');
    expect(await claimAnswer({ ...message, attempt: 'second' }, 'third')).toBe(false);
    expect(await holdsAnswer(orgId, message._id, 'second')).toBe(false);
  });

  it('an attempt that was overtaken while the model chose a tool does not start the tool call', async () => {
    const message = await waiting({ body: 'Please cancel my order A-7', calls: 1 });
    await storeEnded(message, { tool_name: 'list_orders', risk_tier: 'read_private', outcome: 'ok' });
    const tool = { tool_name: 'cancel_order', pin: 'p', risk_tier: 'safe_write', auth_scope: 'public' };
    const chooseTool = async () => {
      await overtake(message);
      return { call: { tool, arguments: {} } } as unknown as Choice;
    };
    await expect(answerTo(message, { chooseTool })).rejects.toThrow(Superseded);
    expect((await callsFor(orgId, message._id)).map(({ tool_name }) => tool_name)).toEqual(['list_orders']);
  });

  it('an attempt that was overtaken before it has shown anything of its answer does not store the answer', async () => {
    const message = await waiting({ body: 'I want to talk to a human' });
    await act(message.conv_id, 'escalate', { reason: 'no_context' });
    const slowly: Intelligence['read'] = async (ask) => {
      await overtake(message);
      return offline.read(ask);
    };
    await expect(answerTo(message, { read: slowly }, true)).rejects.toThrow(Superseded);
    expect(await findAnswer(message)).toBeNull();
    expect(await read(message.conv_id)).toMatchObject({ position: 1, preview: message.body });
  });
});

describe('a member who replies while the agent answers', () => {
  it.each([
    ['asked', { body: 'I want to talk to a human' }],
    // No documents can be searched here, and after five attempts the customer is told so.
    ['failed', { body: 'What does a card cost?', attempts: 5 }],
  ] as const)(
    'an answer which says, for the reason %s, that a person was called calls one even when a member has replied meanwhile',
    async (reason, asked) => {
      const message = await waiting(asked);
      const slowly: Intelligence['read'] = async (ask) => {
        await act(message.conv_id, 'reply', { message: { body: 'Hello.', byCustomer: false } });
        return offline.read(ask);
      };
      await answerTo(message, { read: slowly });
      const { status, ticket, events } = await read(message.conv_id);
      expect([status, ticket?.reason]).toEqual(['escalated', reason]);
      expect(events.map(({ type }) => type)).toEqual(['ticket.created', 'ticket.escalated']);
    },
  );

  it('a second attempt at an answer that called a person calls nobody again when a member has replied meanwhile', async () => {
    const message = await waiting({ body: 'I want to talk to a human' });
    const dies = async (model: unknown): Promise<void> => {
      if (model === ConversationModel) throw new Error('the worker died');
    };
    await expect(answerTo(message, {}, false, dies)).rejects.toThrow('the worker died');
    expect(await read(message.conv_id)).toMatchObject({ status: 'escalated' });
    await act(message.conv_id, 'reply', { message: { body: 'Hello.', byCustomer: false } });
    const asked = async () => (await listMessages(orgId, message.conv_id, { limit: 10 }))[0]!;
    const standing = await asked();
    expect(standing).toMatchObject({ _id: message._id, state: 'waiting' });
    await answerTo(standing);
    expect(await asked()).toMatchObject({ _id: message._id, state: 'answered' });
    const { status, events } = await read(message.conv_id);
    expect(status).toBe('pending');
    expect(events.map(({ type }) => type)).toEqual(['ticket.created', 'ticket.escalated']);
  });

  it.each([
    ['human_only', { outcome: 'handed_off' }],
    ['unknown_outcome', { outcome: 'timeout', unknown: true }],
  ] as const)(
    'a tool call that ends for the reason %s calls a person even when a member has replied while the call waited',
    async (reason, ended) => {
      const message = await waiting({ body: 'Please cancel my order A-7', calls: 1 });
      await storeEnded(message, ended);
      await act(message.conv_id, 'reply', { message: { body: 'Hello.', byCustomer: false } });
      await answerTo(message);
      const { status, ticket, events, untold } = await read(message.conv_id);
      expect([status, ticket?.reason]).toEqual(['escalated', reason]);
      expect(events.map(({ type }) => type)).toEqual(['ticket.created', 'ticket.escalated']);
      expect(untold).toMatchObject([{ kind: 'conversation_escalated', reason }]);
    },
  );
});

describe('a note on a conversation that is deleted at the same time', () => {
  const note = () => ({ note_id: newId('note'), author: 'usr_1', body: 'Look here.', mentions: [], at: new Date() });

  it('a note on a deleted conversation is refused with NOT_FOUND, not with the error for too many notes', async () => {
    const convId = await begin();
    for (let i = 0; i < maxNotes; i += 1) await addNote({ orgId, convId }, note(), intent('note'));
    await expect(addNote({ orgId, convId }, note(), intent('note'))).rejects.toMatchObject({ code: 'CONFLICT' });
    const gone = { orgId, convId: newId('conversation') };
    await expect(addNote(gone, note(), intent('note'))).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

it('removedAmong returns exactly those of the given conversations that have been removed, in every organization', async () => {
  const convId = await begin();
  const [otherOrg, removed, gone] = [newId('org'), newId('conversation'), newId('conversation')];
  const { _id: other } = await provideConversation(otherOrg, 'live', newId('customer'), new Date());
  const streams = [
    ...[convId, convId, removed, removed].map((stream) => ({ orgId, stream })),
    ...[other, gone].map((stream) => ({ orgId: otherOrg, stream })),
  ];
  expect(await removedAmong(streams)).toEqual([removed, gone]);
  expect(await removedAmong([])).toEqual([]);
});

it('a conversation that is escalated again counts as waiting since the second escalation, not since the first', async () => {
  const [before, again] = [new Date('2026-01-01T10:00:00Z'), new Date('2026-01-03T10:00:00Z')];
  const { _id: convId } = await provideConversation(orgId, 'live', newId('customer'), before);
  await act(convId, 'escalate', { reason: 'member', now: before });
  expect(await countEscalated()).toEqual({ waiting: 1, since: before });
  await act(convId, 'resolve', { now: before });
  expect(await countEscalated()).toEqual({ waiting: 0, since: undefined });
  await act(convId, 'escalate', { reason: 'member', now: again });
  expect(await countEscalated()).toEqual({ waiting: 1, since: again });
});

it('a write by a process with a slow clock never moves the time of a conversation’s last change back', async () => {
  const now = new Date();
  const slow = new Date(now.getTime() - 4_000);
  const convId = await begin(now);
  const ref = { orgId, convId };
  const snoozed = { by: 'usr_1', until: new Date(now.getTime() + 60_000) };
  const note = { note_id: newId('note'), author: 'usr_1', body: 'Look here.', mentions: [], at: slow };
  const answer = { messageId: newId('message'), body: 'I do not know.', missed: true, now: slow };
  const writes: Record<string, () => Promise<unknown>> = {
    message: () => act(convId, 'message', { ...said('Hello?'), now: slow }),
    answer: () => placeAnswer(orgId, convId, answer),
    escalate: () => act(convId, 'escalate', { reason: 'no_context', now: slow }),
    asked: () => noteAsked(orgId, convId, slow),
    tags: () => setTags(ref, ['cards'], slow),
    'no tags': () => setTags(ref, [], slow),
    priority: () => setPriority(ref, 'urgent', slow),
    'no priority': () => setPriority(ref, null, slow),
    snooze: () => snooze(ref, snoozed, slow, intent('snooze')),
    wake: async () => wake(await read(convId), snoozed, slow),
    unsnooze: () => unsnooze(ref, slow),
    note: () => addNote(ref, note, intent('note')),
    'no note': () => removeNote(ref, note.note_id, slow),
  };
  for (const [name, write] of Object.entries(writes)) {
    expect([name, Boolean(await write())]).toEqual([name, true]);
    expect([name, (await read(convId)).updated_at]).toEqual([name, now]);
  }
});

it('a conversation counts from its first message, not from the time when its chat was opened', async () => {
  const own = newId('org');
  const [opened, wrote] = [new Date('2026-01-01T10:00:00Z'), new Date('2026-02-12T10:00:00Z')];
  const later = (seconds: number) => new Date(wrote.getTime() + seconds * 1_000);
  const { _id } = await provideConversation(own, 'live', newId('customer'), opened);
  await actOn(own, _id, 'message', { now: wrote, ...said('Hello?') });
  await actOn(own, _id, 'message', { now: later(30), ...said('Is anybody there?') });
  await actOn(own, _id, 'resolve', { now: later(60) });
  const counted = await listCounted(own, ['live'], { from: wrote, until: later(1), limit: 10 });
  expect(grouped(counted, 'day', later(60).getTime())).toMatchObject([
    { group: '2026-02-12', conversations: 1, resolution_seconds: { median: 60, p90: 60 } },
  ]);
});
