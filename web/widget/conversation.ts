/**
 * Computes the state of a conversation after each frame from the server. Pure functions. The state equals the server's
 * even if an answer restarts, frames repeat or a `history` frame comes in between.
 */
import type { ServerFrame } from '../../api/chat/contract/chat.ts';

type FrameOf<T extends ServerFrame['type']> = Extract<ServerFrame, { type: T }>;
/** A message of a history. */
type Message = FrameOf<'history'>['messages'][number];
type Detail = FrameOf<'confirm'>['details'][number];
export type Field = FrameOf<'input'>['fields'][number];
type Role = Message['role'];
type Status = FrameOf<'status'>['status'];
/** `name`: the title of a page or document. */
type Source = { name: string; url?: string | undefined };
/** A passage that may help: its heading, and the question that finds it. */
export type Offer = { heading: string; question: string; says: string };
/**
 * A question to the customer before an action is done: to approve it, to prove their identity, or to give input that
 * the tool needs. `sent`: the customer's `reply` is not acknowledged yet. `failed`: a proof or an answer was refused.
 * `over`: the question has expired or was decided elsewhere.
 */
export type Ask = {
  pendingId: string;
  kind: 'confirm' | 'step_up' | 'input';
  tool: string;
  title: string;
  /** The values that the tool would get, with their names. */
  rows: readonly (readonly [label: string, value: Detail['value']])[];
  /** What the tool does; shown when the tool gets no values. */
  does?: string;
  /** The tool's own question; only for a question of the kind `input`. */
  question?: { id: string; message: string; fields: readonly Field[] };
  state: 'open' | 'sent' | 'failed' | 'agreed' | 'declined' | 'over';
  reply?: Record<string, unknown>;
};

export type Entry = {
  /** The server's id; undefined until the server has acknowledged the message. */
  id: string | undefined;
  /** The id that this page gave to the customer's message. */
  clientId?: string | undefined;
  role: Role;
  body: string;
  /** The server's time in ISO 8601. */
  timestamp?: string | undefined;
  sources: readonly Source[];
  offers?: readonly Offer[] | undefined;
  senderName?: string | undefined;
  ask?: Ask;
  /** The result of an action, or why it was not done. */
  result?: { label: string; ok: boolean };
  /**
   * `begun`: the end of the answer has not arrived. `waiting` and `failed` are only for the customer's own messages.
   */
  state: 'there' | 'begun' | 'waiting' | 'failed';
};

export type Conversation = {
  convId: string | undefined;
  status: Status;
  /** The `seq` of the last frame of the log; undefined before the first. */
  seq: number | undefined;
  /** Whether the server is preparing an answer. */
  writing: boolean;
  /** The server's entries in its order, followed by unacknowledged ones. */
  entries: readonly Entry[];
  /** The cursor for reading messages before the first entry; undefined when there are none. */
  earlier: string | undefined;
  /** The number of entries at the start of the list that were loaded as older messages. */
  older: number;
  /** Whether replies reach the customer by mail, too; undefined until the server has said so. */
  reachable: boolean | undefined;
};

export const noConversation: Conversation = {
  convId: undefined,
  status: 'open',
  seq: undefined,
  writing: false,
  entries: [],
  earlier: undefined,
  older: 0,
  reachable: undefined,
};

/** Types of frames that are not part of the log. Their `seq` is the number of the log's last frame. */
const unlogged: ReadonlySet<string> = new Set(['welcome', 'history', 'earlier', 'contact', 'pong', 'error']);

/** The conversation after a frame. A repeated frame changes nothing; one of an unknown type changes only `seq`. */
export function receive(before: Conversation, frame: ServerFrame): Conversation {
  if (unlogged.has(frame.type)) return receiveUnlogged(before, frame);
  if (before.seq !== undefined && frame.seq <= before.seq) return before;
  return { ...receiveLogged(before, frame), seq: frame.seq };
}

function receiveUnlogged(before: Conversation, frame: ServerFrame): Conversation {
  switch (frame.type) {
    case 'welcome': {
      const { conv_id: convId, status, reachable } = frame;
      if (convId === before.convId) return { ...before, status, reachable };
      // The conversation has changed, so only messages that are still to be sent are kept.
      const entries = before.entries.filter(({ id }) => id === undefined);
      return { ...noConversation, convId, status, reachable, entries };
    }
    case 'contact':
      return { ...before, reachable: true };
    case 'history': {
      const found = frame.messages.map(entryOf);
      const known = new Set(found.flatMap(({ clientId }) => (clientId === undefined ? [] : [clientId])));
      const unsent = before.entries.filter(({ id, clientId }) => id === undefined && !known.has(clientId ?? ''));
      const entries = [...found, ...unsent];
      return { ...before, seq: frame.seq, writing: false, entries, earlier: frame.cursor ?? undefined, older: 0 };
    }
    case 'earlier': {
      // Ignores the reply to a repeated request, or to a request that was sent before a new `history` replaced all
      // entries.
      if (before.earlier === undefined || frame.before !== before.earlier) return before;
      const known = new Set(before.entries.map(({ id }) => id));
      const found = frame.messages.map(entryOf).filter(({ id }) => !known.has(id));
      const entries = [...found, ...before.entries];
      return { ...before, entries, earlier: frame.cursor ?? undefined, older: before.older + found.length };
    }
    case 'error': {
      if (isRefusal(frame)) return fail(before, [frame.client_message_id]);
      const refused = ({ state, reply }: Ask): boolean => state === 'sent' && reply?.['type'] === frame.refused;
      if (frame.code === 'NOTHING_PENDING') return settleAsks(before, refused, 'over');
      return frame.code === 'VALIDATION' ? settleAsks(before, refused, 'failed') : before;
    }
    default:
      return before;
  }
}

function receiveLogged(before: Conversation, frame: ServerFrame): Conversation {
  switch (frame.type) {
    case 'ack':
      return put(before, entryOf({ ...frame, role: 'customer', id: frame.message_id }));
    case 'typing':
      return { ...before, writing: true };
    case 'reply_start':
      return put(
        { ...before, writing: true },
        { id: frame.message_id, role: 'ai', body: '', sources: [], state: 'begun' },
      );
    case 'reply_chunk': {
      // Without its beginning, an answer is shown only when its end arrives.
      const begun = before.entries.find(({ id, state }) => id === frame.message_id && state === 'begun');
      return begun ? put(before, { ...begun, body: begun.body + frame.body }) : before;
    }
    case 'notice':
      return put(before, { ...plain(`notice:${frame.message_id}`), body: frame.body });
    case 'reply_end': {
      const entries = before.entries.filter(({ id }) => id !== `notice:${frame.message_id}`);
      return put({ ...before, entries, writing: false }, entryOf({ ...frame, role: 'ai', id: frame.message_id }));
    }
    case 'agent_reply':
      return put({ ...before, writing: false }, entryOf({ ...frame, role: 'agent', id: frame.message_id }));
    case 'confirm':
    case 'step_up':
    case 'input':
      // The typing indicator is off while the customer is asked a question.
      return put({ ...before, writing: false }, askEntry(frame));
    case 'confirm_ack': {
      const { pending_id: asked, approved } = frame;
      const settled = settleAsks(before, ({ pendingId }) => pendingId === asked, approved ? 'agreed' : 'declined');
      return { ...settled, writing: approved };
    }
    case 'input_ack': {
      const answered = ({ pendingId, question }: Ask): boolean =>
        pendingId === frame.pending_id && question?.id === frame.question_id;
      return { ...settleAsks(before, answered, frame.action === 'accept' ? 'agreed' : 'declined'), writing: true };
    }
    case 'action_result': {
      const { pending_id: asked, label, ok, seq } = frame;
      const unsettled = ({ pendingId, state }: Ask): boolean => pendingId === asked && isUnsettled(state);
      return put(settleAsks(before, unsettled, 'over'), { ...plain(`action:${seq}`), result: { label, ok } });
    }
    case 'escalated':
      return { ...before, status: 'escalated', writing: false };
    case 'status':
      return { ...before, status: frame.status, writing: false };
    default:
      return before;
  }
}

/** Codes of errors that do not refuse a message: they are temporary, or accompany the end of the connection. */
const passing: readonly string[] = ['INTERNAL', 'UNAVAILABLE', 'RATE_LIMITED', 'UNAUTHENTICATED', 'NOT_FOUND'];

/** Whether an `error` frame says that a message will never be accepted. */
export const isRefusal = (frame: FrameOf<'error'>): frame is FrameOf<'error'> & { client_message_id: string } =>
  frame.client_message_id !== undefined && !passing.includes(frame.code);

/** Adds a message that was written on this page and that the server does not know yet. */
export function say(before: Conversation, clientId: string, body: string): Conversation {
  return {
    ...before,
    entries: [...before.entries, { id: undefined, clientId, role: 'customer', body, sources: [], state: 'waiting' }],
  };
}

const isUnsettled = (state: Ask['state']): boolean => state === 'open' || state === 'sent' || state === 'failed';

function settleAsks(before: Conversation, which: (ask: Ask) => boolean, state: Ask['state']): Conversation {
  const entries = before.entries.map((entry) =>
    entry.ask && which(entry.ask) ? { ...entry, ask: { ...entry.ask, state } } : entry,
  );
  return { ...before, entries };
}

/** Stores the customer's reply to a question, for sending. A question that is already decided stays unchanged. */
export function answerAsk(before: Conversation, pendingId: string, reply: Record<string, unknown>): Conversation {
  const entries = before.entries.map((entry): Entry =>
    entry.ask?.pendingId === pendingId && isUnsettled(entry.ask.state)
      ? { ...entry, ask: { ...entry.ask, state: 'sent', reply } }
      : entry,
  );
  return { ...before, entries };
}

/** Marks a question as failed, because the host page cannot prove the customer's identity. */
export const failAsk = (before: Conversation, pendingId: string): Conversation =>
  settleAsks(before, (ask) => ask.pendingId === pendingId && isUnsettled(ask.state), 'failed');

const plain = (id: string): Entry => ({ id, role: 'system', body: '', sources: [], state: 'there' });

function askEntry(frame: FrameOf<'confirm' | 'step_up' | 'input'>): Entry {
  const { type: kind, pending_id: pendingId, tool_name: tool, title } = frame;
  const ask = { pendingId, kind, tool, title, state: 'open' } as const;
  if (frame.type === 'input') {
    const { question_id: id, message, fields } = frame;
    return { ...plain(`ask:${pendingId}:${id}`), ask: { ...ask, rows: [], question: { id, message, fields } } };
  }
  const rows = frame.details.map(({ label, value }) => [label, value] as const);
  const does = rows.length === 0 && frame.body !== '' ? { does: frame.body } : {};
  return { ...plain(`ask:${pendingId}`), ask: { ...ask, rows, ...does } };
}

/** Marks messages that the server will not accept. */
export function fail(before: Conversation, clientIds: readonly string[]): Conversation {
  const entries = before.entries.map((entry): Entry =>
    entry.id === undefined && clientIds.includes(entry.clientId ?? '') ? { ...entry, state: 'failed' } : entry,
  );
  return { ...before, entries };
}

/**
 * Replaces the entry with the same id; otherwise adds the entry after the server's other entries. A finished answer is
 * moved to the end too, because the history orders answers by the time at which they ended.
 */
function put(before: Conversation, entry: Entry): Conversation {
  const standing = before.entries.find(({ id }) => id === entry.id);
  const finished = standing?.state === 'begun' && entry.state === 'there';
  const others = before.entries.filter(
    (other) =>
      !(finished && other === standing) &&
      // The server's copy of a message replaces the waiting one.
      (other.id !== undefined || entry.clientId === undefined || other.clientId !== entry.clientId),
  );
  if (standing && !finished) {
    return { ...before, entries: others.map((other) => (other.id === entry.id ? entry : other)) };
  }
  const firstUnsent = others.findIndex(({ id }) => id === undefined);
  return { ...before, entries: others.toSpliced(firstUnsent < 0 ? others.length : firstUnsent, 0, entry) };
}

/** Makes an entry from a message of a history or of a frame. */
const entryOf = ({ sources = [], ...message }: Message): Entry => ({
  id: message.id,
  clientId: message.client_message_id,
  role: message.role,
  body: message.body,
  timestamp: message.timestamp,
  sources: sources.map(({ title, name, url }) => ({ name: title ?? name, url })),
  offers: message.offers,
  senderName: message.sender_name,
  state: 'there',
});

/**
 * The number of unread entries: open questions, and answers and replies after `readUpTo`. `readUpTo`: the timestamp of
 * the last entry that the customer has seen.
 */
export function countUnread({ entries }: Conversation, readUpTo: string): number {
  return entries.filter(
    ({ role, state, ask, timestamp = '' }) =>
      ask?.state === 'open' || ((role === 'ai' || role === 'agent') && state === 'there' && timestamp > readUpTo),
  ).length;
}

/** The timestamp of the last answer or reply; empty when there is none. */
export function lastHeard({ entries }: Conversation): string {
  const heard = entries.filter(({ role, state }) => role !== 'customer' && state === 'there');
  return heard.reduce((last, { timestamp = '' }) => (timestamp > last ? timestamp : last), '');
}
