/**
 * How the widget turns frames into its state. Whatever is repeated, restarted or missed, the widget ends with the
 * server's history. Runs without a browser.
 */
import { describe, expect, it, jest } from '@jest/globals';
import {
  answerAsk,
  countUnread,
  fail,
  failAsk,
  lastHeard,
  noConversation,
  receive,
  say,
  type Conversation,
} from '../../web/widget/conversation.ts';
import type { ServerFrame } from '../../api/chat/contract/chat.ts';
import { hoursSentence, readLook, withoutHours } from '../../web/widget/look.ts';
import { readOptions, readToken } from '../../web/widget/options.ts';
import { isComposing } from '../../web/live/keys.ts';
import { createStore, randomId } from '../../web/live/store.ts';
import { contrast } from '../../models/rules/chat/accent.ts';
import { colors, pairs } from '../../web/widget/styles.ts';
import { localeOf } from '../../web/live/sentences.ts';
import { texts } from '../../web/widget/texts.ts';
import { randomNumbers } from '../kit/random.ts';

const at = (minute: number): string => new Date(Date.UTC(2026, 0, 1, 12, minute)).toISOString();

/** The conversation after these frames. A frame without a sequence number gets the next one. */
function after(frames: readonly Record<string, unknown>[], before: Conversation = noConversation): Conversation {
  let seq = before.seq ?? 0;
  return frames.reduce<Conversation>((conversation, frame) => {
    seq = typeof frame['seq'] === 'number' ? frame['seq'] : seq + 1;
    return receive(conversation, { ...frame, seq } as unknown as ServerFrame);
  }, before);
}
const lines = ({ entries }: Conversation): string[] =>
  entries.map(({ role, body, state }) => `${role}${state === 'there' ? '' : ` (${state})`}: ${body}`);

const fresh = [
  { type: 'welcome', seq: 0, conv_id: 'conv_1', status: 'open', mode: 'test', reachable: true },
  { type: 'history', seq: 0, messages: [], cursor: null },
];
const answered = [
  { type: 'ack', client_message_id: 'c1', message_id: 'm1', body: 'Hello?', timestamp: at(1) },
  { type: 'typing' },
  { type: 'reply_start', message_id: 'r1' },
  { type: 'reply_chunk', message_id: 'r1', body: 'Good ' },
  { type: 'reply_chunk', message_id: 'r1', body: 'day' },
];
const end = {
  type: 'reply_end',
  message_id: 'r1',
  body: 'Good day.',
  sources: [],
  has_context: true,
  timestamp: at(2),
};

describe('a request for confirmation in the widget', () => {
  const confirm = {
    type: 'confirm',
    pending_id: 'call_1',
    tool_name: 'cancel_order',
    title: 'Cancel order',
    body: 'Order number: A-1',
    details: [
      { label: 'Order number', value: 'A-1' },
      { label: 'Count', value: 2 },
    ],
    arguments: { orderNumber: 'A-1', count: 2 },
  };
  const asks = ({ entries }: Conversation) => entries.flatMap(({ ask }) => (ask ? [ask.state] : []));
  const result = {
    type: 'action_result',
    pending_id: 'call_1',
    tool_name: 'cancel_order',
    ok: true,
    label: 'Cancel order',
  };

  it('a request for confirmation of a tool without arguments describes what the tool does', () => {
    const asked = after([
      ...fresh,
      ...answered,
      { ...confirm, body: 'Closes the account.', details: [], arguments: {} },
    ]);
    expect(asked.entries.at(-1)!.ask).toMatchObject({ rows: [], does: 'Closes the account.' });
  });

  it('a request for confirmation appears among the messages with the arguments, and stops the typing indicator until it is answered', () => {
    const asked = after([...fresh, ...answered, confirm]);
    expect(asked.writing).toBe(false);
    expect(asked.entries.at(-1)!.ask).toMatchObject({
      title: 'Cancel order',
      rows: [
        ['Order number', 'A-1'],
        ['Count', 2],
      ],
    });
    expect(countUnread(asked, at(0))).toBe(1);
    const agreed = after([{ type: 'confirm_ack', pending_id: 'call_1', approved: true }], asked);
    expect([asks(agreed), agreed.writing, countUnread(agreed, at(0))]).toEqual([['agreed'], true, 0]);
    expect(asks(after([{ type: 'confirm_ack', pending_id: 'another', approved: true }], asked))).toEqual(['open']);
  });

  it('the first outcome that arrives decides the state of a request for confirmation, and later outcomes do not change it', () => {
    const asked = after([...fresh, confirm]);
    const sent = answerAsk(asked, 'call_1', { type: 'confirm_response' });
    expect(asks(sent)).toEqual(['sent']);
    const declined = after([{ type: 'confirm_ack', pending_id: 'call_1', approved: false }, result], sent);
    expect(asks(declined)).toEqual(['declined']);
    expect(asks(answerAsk(declined, 'call_1', { type: 'confirm_response' }))).toEqual(['declined']);
    expect(asks(failAsk(declined, 'call_1'))).toEqual(['declined']);
    expect(asks(after([{ ...result, ok: false }], sent))).toEqual(['over']);
    const gone = { type: 'error', code: 'NOTHING_PENDING', refused: 'confirm_response' };
    expect(asks(after([gone], sent))).toEqual(['over']);
    expect(asks(after([gone], asked))).toEqual(['open']);
  });

  it('after a step-up token is rejected, the customer can send another token from the widget', () => {
    const { body: _, ...stepUp } = { ...confirm, type: 'step_up', expires_at: at(10) };
    const sent = answerAsk(after([...fresh, stepUp]), 'call_1', { type: 'step_up_response' });
    const failed = after([{ type: 'error', code: 'VALIDATION', refused: 'step_up_response' }], sent);
    expect(asks(failed)).toEqual(['failed']);
    expect(asks(answerAsk(failed, 'call_1', { type: 'step_up_response' }))).toEqual(['sent']);
  });

  it.each(['contact', 'context_update', 'input_response', undefined])(
    'an error about a frame of the type %s does not mark a sent step-up token as rejected',
    (refused) => {
      const sent = answerAsk(after([...fresh, { ...confirm, type: 'step_up', expires_at: at(10) }]), 'call_1', {
        type: 'step_up_response',
      });
      for (const code of ['VALIDATION', 'NOTHING_PENDING'])
        expect(asks(after([{ type: 'error', code, refused }], sent))).toEqual(['sent']);
    },
  );

  it('the widget shows the questions that a tool asks one after the other, each with its outcome', () => {
    const fields = [{ name: 'why', label: 'Why?', kind: 'text', required: true }];
    const { body: _, arguments: __, ...about } = confirm;
    const input = { ...about, type: 'input', message: 'Why is it cancelled?', fields, expires_at: at(10) };
    const asked = after([...fresh, { ...input, question_id: '1.1' }]);
    expect(asked.entries.at(-1)!.ask).toMatchObject({
      question: { id: '1.1', message: 'Why is it cancelled?', fields },
    });
    const sent = answerAsk(asked, 'call_1', { type: 'input_response' });
    expect(asks(after([{ type: 'error', code: 'VALIDATION', refused: 'input_response' }], sent))).toEqual(['failed']);
    const ack = { type: 'input_ack', pending_id: 'call_1', question_id: '1.1', action: 'accept' };
    const next = after([ack, { ...input, question_id: '1.2' }], sent);
    expect(asks(next)).toEqual(['agreed', 'open']);
    const refused = after([{ ...ack, question_id: '1.2', action: 'decline' }], next);
    expect(asks(refused)).toEqual(['agreed', 'declined']);
  });

  it('a notice that explains why an answer takes time is shown among the messages until the answer arrives', () => {
    const notice = { type: 'notice', message_id: 'r1', body: 'Somebody of the team has to agree.' };
    const told = after([...fresh, { type: 'reply_start', message_id: 'r1' }, notice]);
    expect(told.entries.map(({ role, body }) => [role, body])).toContainEqual(['system', notice.body]);
    const later = after([{ ...notice, body: '50 %' }], told);
    expect(later.entries.flatMap(({ role, body }) => (role === 'system' ? [body] : []))).toEqual(['50 %']);
    const done = after([{ type: 'reply_end', message_id: 'r1', body: 'Done.', sources: [], timestamp: at(3) }], later);
    expect(done.entries.filter(({ role }) => role === 'system')).toEqual([]);
  });

  it('the widget shows the outcome of each tool call', () => {
    const done = after([...fresh, result, { ...result, ok: false }]);
    expect(done.entries.flatMap((entry) => (entry.result ? [entry.result.ok] : []))).toEqual([true, false]);
  });
});

describe('the conversation in the widget', () => {
  it('the widget shows a message at once, marks it as sent when the server acknowledges it, and streams the answer', () => {
    const said = say(after(fresh), 'c1', 'Hello?');
    expect(lines(said)).toEqual(['customer (waiting): Hello?']);
    const writing = after(answered, said);
    expect(lines(writing)).toEqual(['customer: Hello?', 'ai (begun): Good day']);
    expect(writing.writing).toBe(true);
    const done = after([end], writing);
    expect(lines(done)).toEqual(['customer: Hello?', 'ai: Good day.']);
    expect(done.writing).toBe(false);
  });

  it('the widget replaces the partial answer when an answer is restarted', () => {
    const again = [
      { type: 'reply_start', message_id: 'r1' },
      { type: 'reply_chunk', message_id: 'r1', body: 'Hello.' },
    ];
    expect(lines(after([...fresh, ...answered, ...again]))).toEqual(['customer: Hello?', 'ai (begun): Hello.']);
  });

  it('the widget ignores a frame that it has already received', () => {
    const once = after([...fresh, ...answered, end]);
    const frames = [...answered, end].map((frame, index) => ({ ...frame, seq: index + 1 }));
    expect(after(frames, once)).toEqual(once);
  });

  it('a history frame replaces all that the widget shows, except messages that the server does not have yet', () => {
    const lost = say(say(after([...fresh, ...answered]), 'c2', 'And now?'), 'c3', 'Anybody?');
    const history = {
      type: 'history',
      seq: 40,
      messages: [
        { id: 'm1', role: 'customer', body: 'Hello?', timestamp: at(1), client_message_id: 'c1' },
        { id: 'r1', role: 'ai', body: 'Good day.', timestamp: at(2), sources: [{ name: 'a.md' }] },
        { id: 'm2', role: 'customer', body: 'And now?', timestamp: at(3), client_message_id: 'c2' },
      ],
    };
    const found = after([fresh[0]!, history], lost);
    expect(lines(found)).toEqual([
      'customer: Hello?',
      'ai: Good day.',
      'customer: And now?',
      'customer (waiting): Anybody?',
    ]);
    expect(found.seq).toBe(40);
    // The end frame of an answer that the history already contains changes nothing.
    expect(lines(after([{ ...end, seq: 41 }], found))).toEqual(lines(found));
  });

  it('the widget hides an answer whose beginning it missed until the end of the answer arrives', () => {
    const pieces = answered.slice(3);
    expect(lines(after([...fresh, ...pieces]))).toEqual([]);
    expect(lines(after([...fresh, ...pieces, end]))).toEqual(['ai: Good day.']);
  });

  it('when the server names another conversation, the widget keeps only the unsent messages', () => {
    const before = say(after([...fresh, ...answered, end]), 'c9', 'Still here');
    const other = after([{ type: 'welcome', seq: 0, conv_id: 'conv_2', status: 'open' }], before);
    expect(lines(other)).toEqual(['customer (waiting): Still here']);
    expect([other.convId, other.seq]).toEqual(['conv_2', undefined]);
  });

  it('the widget marks a refused message as failed, unless the error allows a retry', () => {
    const said = say(after(fresh), 'c1', 'Hello?');
    const error = { type: 'error', client_message_id: 'c1', message: '…' };
    for (const code of ['VALIDATION', 'SANDBOX_LIMIT', 'CONFLICT', 'NEVER_HEARD_OF'])
      expect(lines(after([{ ...error, code }], said))).toEqual(['customer (failed): Hello?']);
    for (const code of ['RATE_LIMITED', 'UNAVAILABLE', 'INTERNAL', 'NOT_FOUND', 'UNAUTHENTICATED'])
      expect(lines(after([{ ...error, code }], said))).toEqual(['customer (waiting): Hello?']);
    expect(lines(fail(said, ['other']))).toEqual(['customer (waiting): Hello?']);
  });

  it('the widget shows a member’s reply with the member’s name, and takes the conversation’s status from status frames', () => {
    const reply = { type: 'agent_reply', message_id: 'a1', body: 'Here I am.', sender_name: 'Ada', timestamp: at(5) };
    const called = after([...fresh, { type: 'escalated', ticket_id: 't1' }]);
    expect(called.status).toBe('escalated');
    const replied = after([reply, { type: 'status', status: 'pending' }], called);
    expect(replied.entries).toMatchObject([{ role: 'agent', senderName: 'Ada', body: 'Here I am.' }]);
    expect(replied.status).toBe('pending');
  });

  it('a frame of an unknown type changes nothing in the widget except the sequence number of the last frame', () => {
    const before = after([...fresh, ...answered]);
    expect(after([{ type: 'new', body: 'x' }], before)).toEqual({ ...before, seq: before.seq! + 1 });
  });

  it('the widget shows the sections that an answer offers, live and from the history', () => {
    const offers = [
      {
        heading: 'Cash – Fees',
        question: 'Cash – Fees',
        says: '5 EUR.',
        source: { type: 'document', id: 'd', name: 'cash.md' },
      },
    ];
    const live = after([...fresh, ...answered, { ...end, confidence: 'low', offers }]);
    expect(live.entries.at(-1)?.offers).toEqual(offers);
    const messages = [{ id: 'r1', role: 'ai', body: 'This may help:', timestamp: at(2), offers }];
    const read = after([fresh[0]!, { type: 'history', messages, cursor: null }]);
    expect(read.entries.at(-1)?.offers).toEqual(offers);
    expect(after([...fresh, ...answered, end]).entries.at(-1)?.offers).toBeUndefined();
  });

  it('the widget counts as unread the answers that arrived since the customer last looked at the chat', () => {
    const done = after([...fresh, ...answered, end]);
    expect(countUnread(done, '')).toBe(1);
    expect(countUnread(done, lastHeard(done))).toBe(0);
    expect(countUnread(after([...fresh, ...answered]), '')).toBe(0);
  });
});

/** Simulates a server with a log of frames, and clients that lose connections, resume, and get frames twice. */
describe('clients that follow the server’s log', () => {
  function story(next: () => number) {
    const log: ServerFrame[] = [];
    const history: Extract<ServerFrame, { type: 'history' }>['messages'] = [];
    const append = (frame: Record<string, unknown>) =>
      log.push({ ...frame, seq: log.length + 1 } as unknown as ServerFrame);
    const begin = () => append({ type: 'reply_start', message_id: `r${history.length}` });
    return {
      log,
      history,
      accept(clientId: string, body: string) {
        if (history.some((message) => message.client_message_id === clientId)) return;
        const id = `m${history.length}`;
        history.push({ id, role: 'customer', body, client_message_id: clientId, timestamp: at(history.length) });
        append({ type: 'ack', message_id: id, client_message_id: clientId, body, timestamp: at(history.length) });
        const reply = `r${history.length}`;
        begin();
        for (const piece of ['a', 'b', 'c']) {
          append({ type: 'reply_chunk', message_id: reply, body: piece });
          // The writer dies here, and another one restarts the answer.
          if (next() < 0.2) begin();
        }
        history.push({ id: reply, role: 'ai', body: `answer to ${body}`, timestamp: at(history.length) });
        append({
          type: 'reply_end',
          message_id: reply,
          body: `answer to ${body}`,
          timestamp: at(history.length),
          sources: [],
        });
      },
    };
  }

  it('after each of 500 random sequences of lost and repeated frames, every client shows the server’s history', () => {
    for (let seed = 0; seed < 500; seed += 1) play(seed);
  });

  function play(seed: number): void {
    const next = randomNumbers(seed);
    const server = story(next);
    const clients = [0, 1].map((number) => ({ number, state: noConversation, given: 0 }));
    const welcome = { type: 'welcome', conv_id: 'conv_1', status: 'open', mode: 'test', reachable: true } as const;
    const connect = (client: (typeof clients)[number], anew: boolean) => {
      const { state } = client;
      const seq = anew || state.seq === undefined ? server.log.length : state.seq;
      client.state = receive(state, { ...welcome, seq });
      if (anew || state.seq === undefined) {
        client.state = receive(client.state, { type: 'history', seq, messages: server.history, cursor: null });
      }
      client.given = seq;
      for (const entry of client.state.entries) {
        if (entry.state === 'waiting') server.accept(entry.clientId!, entry.body);
      }
    };
    for (let step = 0; step < 60; step += 1) {
      const client = clients[Math.floor(next() * 2)]!;
      const move = next();
      if (move < 0.15) {
        const clientId = `c${client.number}-${step}`;
        client.state = say(client.state, clientId, `message ${step}`);
        // The message arrives or is lost, and sometimes it arrives twice.
        if (next() < 0.6) server.accept(clientId, `message ${step}`);
      } else if (move < 0.3) connect(client, next() < 0.3);
      else if (client.state.seq !== undefined) {
        // Frames are delivered from the log, sometimes from further back than needed.
        const from = Math.max(0, client.given - (next() < 0.2 ? 3 : 0));
        for (const frame of server.log.slice(from, client.given + 1)) client.state = receive(client.state, frame);
        client.given = Math.min(client.given + 1, server.log.length);
      }
    }
    for (const client of clients) connect(client, false);
    for (const client of clients) {
      for (const frame of server.log.slice(client.state.seq ?? 0)) client.state = receive(client.state, frame);
      const shown = client.state.entries.map(({ id, body, state }) => ({ id, body, state }));
      const there = server.history.map(({ id, body }) => ({ id, body, state: 'there' }));
      expect({ seed, shown }).toEqual({ seed, shown: there });
    }
  }
});

describe('the widget’s options', () => {
  it('the widget’s options are read from the script tag, and invalid ones get defaults', () => {
    const browser = { languages: ['it-IT', 'de-AT', 'en'] };
    expect(readOptions({ key: ' svc_pk_test_1 ', theme: 'pink', position: 'left' }, browser)).toEqual({
      key: 'svc_pk_test_1',
      product: undefined,
      identity: { sessionToken: undefined, email: undefined, sig: undefined },
      theme: 'auto',
      position: 'left',
      dir: 'ltr',
      locale: 'de',
      title: undefined,
    });
    expect(readOptions({ locale: 'ar' }, browser)).toMatchObject({ locale: 'ar', dir: 'rtl' });
    expect(readOptions({ locale: 'ar', dir: 'ltr' }, browser)).toMatchObject({ dir: 'ltr' });
    expect(localeOf(texts, ['tlh'])).toBe('en');
  });

  it('the widget reads organization and customer from a session token, and nothing from an invalid one', () => {
    const claims = Buffer.from(JSON.stringify({ org: 'org_1', sub: 'cus_ü' })).toString('base64url');
    expect(readToken(`a.${claims}.b`)).toEqual({ org: 'org_1', sub: 'cus_ü' });
    for (const wrong of ['', 'a', 'a.b.c', `a.${Buffer.from('null').toString('base64url')}.b`])
      expect(readToken(wrong)).toBeUndefined();
  });

  it('the widget has every text in every language', () => {
    const names = Object.keys(texts.en).sort();
    for (const words of Object.values(texts)) expect(Object.keys(words).sort()).toEqual(names);
  });
});

describe('the team’s hours in the widget', () => {
  it('the widget names the weekday of the team’s return, and also the date when that is more than six days away', () => {
    const monday = new Date(2026, 11, 28, 9, 30);
    const said = (back: Date) => hoursSentence({ open: false, back }, 'en', texts.en, monday);
    expect(said(new Date(2026, 11, 31, 9))).toMatch(/^Back Thursday\b(?!.*December)/);
    expect(said(new Date(2027, 0, 4, 9))).toMatch(/^Back Monday, January 4\b/);
  });

  it('a widget that is hidden outside the team’s hours stays hidden until it has read the hours', () => {
    const stored = { agent_name: 'Linda', outside: 'hide', open: true, next_opening: '2026-12-31T08:00:00.000Z' };
    const look = (given: unknown) => readLook(given, 'en', 'https://example.com/');
    const unknown = { open: undefined, back: undefined };
    expect(look(withoutHours(stored))).toMatchObject({ agentName: 'Linda', hidden: true, ...unknown });
    expect(look({ ...stored, open: null, next_opening: null })).toMatchObject({ hidden: false, ...unknown });
    expect(look(stored)).toMatchObject({ hidden: false, open: true });
  });
});

describe('the widget’s keyboard', () => {
  it('a key with which an input method confirms a word is recognized, in Safari by its key code', () => {
    expect(isComposing({ isComposing: true, keyCode: 229 })).toBe(true);
    expect(isComposing({ isComposing: false, keyCode: 229 })).toBe(true);
    expect(isComposing({ isComposing: false, keyCode: 13 })).toBe(false);
  });
});

describe('the connection of a page', () => {
  it('a page keeps its one open socket and its pings, whatever becomes of other attempts to find the address', async () => {
    const sockets: Socket[] = [];
    const sent: string[] = [];
    class Socket extends EventTarget {
      static readonly OPEN = 1;
      readonly readyState = Socket.OPEN;
      constructor() {
        super();
        sockets.push(this);
      }
      send(text: string): void {
        sent.push(text);
      }
      close(): void {
        return undefined;
      }
    }
    const page = new EventTarget();
    Object.assign(globalThis, { window: page, WebSocket: Socket });
    jest.useFakeTimers({ doNotFake: ['Date', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate'] });
    // The types of browser code are missing in this file, so the file is loaded by a name that is not constant.
    const load = (name: string) => import(`../../web/live/${name}.ts`);
    const { openLink } = await load('connection');
    const attempts: PromiseWithResolvers<string>[] = [];
    const states: string[] = [];
    const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    const link = openLink({
      address() {
        const attempt = Promise.withResolvers<string>();
        attempts.push(attempt);
        return attempt.promise;
      },
      state: (state: string) => states.push(state),
      frame: () => undefined,
    });
    for (const _ of [1, 2, 3]) page.dispatchEvent(new Event('online'));
    const [early, opening, failing, late] = attempts;
    // This failure comes before the socket exists, so its retry comes after the socket has opened.
    early!.reject(new Error('timeout'));
    await settled();
    opening!.resolve('ws://127.0.0.1/one');
    await settled();
    sockets[0]!.dispatchEvent(new Event('open'));
    const welcome = JSON.stringify({ type: 'welcome', seq: 0 });
    sockets[0]!.dispatchEvent(Object.assign(new Event('message'), { data: welcome }));
    failing!.reject(new Error('timeout'));
    late!.resolve('ws://127.0.0.1/two');
    await settled();
    jest.advanceTimersByTime(30_000);
    link.close();
    jest.useRealTimers();
    expect([states.at(-1), attempts.length, sockets.length]).toEqual(['open', 4, 1]);
    expect(sent).toEqual([JSON.stringify({ type: 'ping' })]);
  });
});

describe('the widget’s storage', () => {
  it('the widget keeps its data in memory when the page may not use the browser’s storage', () => {
    const refused = () => {
      throw new Error('SecurityError');
    };
    const store = createStore(refused, 'w:');
    store.set('a:1', 'x');
    expect([store.get('a:1'), store.get('b'), store.names('a:')]).toEqual(['x', undefined, ['a:1']]);
    store.set('a:1', undefined);
    expect([store.get('a:1'), store.names('a:')]).toEqual([undefined, []]);
  });

  it('the widget’s random ids differ, and have the format that the server accepts', () => {
    expect(randomId()).toMatch(/^[0-9a-f]{32}$/);
    expect(randomId()).not.toBe(randomId());
  });
});

describe('the widget’s colours', () => {
  it.each(['light', 'dark'] as const)('the widget’s colours have the required contrast (%s)', (theme) => {
    const weak = pairs.filter(
      ([front, behind, least]) => contrast(colors[theme][front], colors[theme][behind]) < least,
    );
    expect(weak).toEqual([]);
  });
});
