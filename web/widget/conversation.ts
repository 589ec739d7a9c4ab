/**
 * The state of a conversation after each frame from the server. Pure: it knows neither the page nor the connection.
 * Restarted answers, repeated frames and `history` frames in between lead to the same state as on the server.
 */
import type { Frame } from '../live/frame.ts';

/** `name`: the title of a page or document. */
export type Source = { name: string; url?: string | undefined };
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
  /** What the tool does; used when it gets no values. */
  does?: string;
  /** The tool's own question; only for a question of the kind `input`. */
  question?: { id: string; message: string; fields: readonly Field[] };
  state: 'open' | 'sent' | 'failed' | 'agreed' | 'declined' | 'over';
  reply?: Record<string, unknown>;
};
type Detail = { label: string; value: string | number | boolean };
export type Field = {
  name: string;
  label: string;
  description?: string;
  kind: string;
  required?: boolean;
  options?: readonly { value: string; label: string }[];
  initial?: unknown;
};
export type Role = 'customer' | 'ai' | 'agent' | 'system';
export type Status = 'open' | 'pending' | 'escalated' | 'resolved';

export type Entry = {
  /** The server's id; undefined until the server has acknowledged the message. */
  id: string | undefined;
  /** The id that this page gave to a message that was written on it. */
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
  /** The number of the last frame of the log; undefined before the first `welcome`. */
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
const statuses: readonly string[] = ['open', 'pending', 'escalated', 'resolved'] satisfies Status[];

/** The conversation after a frame. A repeated frame changes nothing. */
export function receive(before: Conversation, frame: Frame): Conversation {
  if (unlogged.has(frame.type)) return receiveUnlogged(before, frame);
  if (before.seq !== undefined && frame.seq <= before.seq) return before;
  return { ...receiveLogged(before, frame), seq: frame.seq };
}

function receiveUnlogged(before: Conversation, frame: Frame): Conversation {
  switch (frame.type) {
    case 'welcome': {
      const convId = text(frame['conv_id']);
      const status = statusOf(frame['status'], before.status);
      const reachable = frame['reachable'] !== false;
      if (convId === before.convId) return { ...before, status, reachable };
      // The conversation has changed, so only messages that are still to be sent are kept.
      const entries = before.entries.filter(({ id }) => id === undefined);
      return { ...noConversation, convId, status, reachable, entries };
    }
    case 'contact':
      return { ...before, reachable: true };
    case 'history': {
      const found = entriesOf(frame);
      const known = new Set(found.flatMap(({ clientId }) => (clientId === undefined ? [] : [clientId])));
      const unsent = before.entries.filter(({ id, clientId }) => id === undefined && !known.has(clientId ?? ''));
      const entries = [...found, ...unsent];
      return { ...before, seq: frame.seq, writing: false, entries, earlier: cursorOf(frame), older: 0 };
    }
    case 'earlier': {
      // Ignores the reply to a repeated request, or to a request that was sent before a new `history` replaced all
      // entries.
      if (before.earlier === undefined || frame['before'] !== before.earlier) return before;
      const known = new Set(before.entries.map(({ id }) => id));
      const found = entriesOf(frame).filter(({ id }) => !known.has(id));
      const entries = [...found, ...before.entries];
      return { ...before, entries, earlier: cursorOf(frame), older: before.older + found.length };
    }
    case 'error': {
      if (isRefusal(frame)) return fail(before, [text(frame['client_message_id'])]);
      if (frame['code'] === 'NOTHING_PENDING') return settleAsks(before, ({ state }) => state === 'sent', 'over');
      // For a sent reply, the server answers VALIDATION only to a proof of identity or to an answer to a tool's
      // question, never to a confirmation. So sent confirmations stay unchanged.
      if (frame['code'] === 'VALIDATION')
        return settleAsks(before, ({ state, kind }) => state === 'sent' && kind !== 'confirm', 'failed');
      return before;
    }
    default:
      return before;
  }
}

function receiveLogged(before: Conversation, frame: Frame): Conversation {
  const id = text(frame['message_id']);
  switch (frame.type) {
    case 'ack': {
      const clientId = text(frame['client_message_id']);
      const own = before.entries.find((entry) => clientId !== '' && entry.clientId === clientId);
      const body = typeof frame['body'] === 'string' ? frame['body'] : (own?.body ?? '');
      return put(before, { ...entryOf({ ...frame, role: 'customer', id, body }) });
    }
    case 'typing':
      return { ...before, writing: true };
    case 'reply_start':
      return put({ ...before, writing: true }, { id, role: 'ai', body: '', sources: [], state: 'begun' });
    case 'reply_chunk': {
      // Without its beginning, an answer is shown only when its end arrives.
      const begun = before.entries.find((entry) => entry.id === id && entry.state === 'begun');
      return begun ? put(before, { ...begun, body: begun.body + text(frame['body']) }) : before;
    }
    case 'notice':
      return put(before, { ...plain(`notice:${id}`), body: text(frame['body']) });
    case 'reply_end': {
      const entries = before.entries.filter((entry) => entry.id !== `notice:${id}`);
      return put({ ...before, entries, writing: false }, entryOf({ ...frame, role: 'ai', id }));
    }
    case 'agent_reply':
      return put({ ...before, writing: false }, entryOf({ ...frame, role: 'agent', id }));
    case 'confirm':
    case 'step_up':
    case 'input':
      // The typing indicator is off while the customer is asked a question.
      return put({ ...before, writing: false }, askEntry(frame, frame.type));
    case 'confirm_ack': {
      const asked = text(frame['pending_id']);
      const approved = frame['approved'] === true;
      const settled = settleAsks(before, ({ pendingId }) => pendingId === asked, approved ? 'agreed' : 'declined');
      return { ...settled, writing: approved };
    }
    case 'input_ack': {
      const answered = ({ pendingId, question }: Ask): boolean =>
        pendingId === frame['pending_id'] && question?.id === frame['question_id'];
      const accepted = frame['action'] === 'accept';
      return { ...settleAsks(before, answered, accepted ? 'agreed' : 'declined'), writing: true };
    }
    case 'action_result': {
      const unsettled = ({ pendingId, state }: Ask): boolean => pendingId === frame['pending_id'] && isUnsettled(state);
      const result = { label: text(frame['label']), ok: frame['ok'] === true };
      const standing = settleAsks(before, unsettled, 'over');
      return put(standing, { ...plain(`action:${frame.seq}`), result });
    }
    case 'escalated':
      return { ...before, status: 'escalated', writing: false };
    case 'status':
      return { ...before, status: statusOf(frame['status'], before.status), writing: false };
    default:
      return before;
  }
}

/** Codes of errors that do not refuse a message: they are temporary, or accompany the end of the connection. */
const passing: readonly unknown[] = ['INTERNAL', 'UNAVAILABLE', 'RATE_LIMITED', 'UNAUTHENTICATED', 'NOT_FOUND'];

/** Whether an `error` frame says that a message will never be accepted. */
export const isRefusal = (frame: Frame): boolean =>
  typeof frame['client_message_id'] === 'string' && !passing.includes(frame['code']);

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

function askEntry(frame: Frame, kind: Ask['kind']): Entry {
  const pendingId = text(frame['pending_id']);
  const rows = (Array.isArray(frame['details']) ? (frame['details'] as Detail[]) : []).map(
    ({ label, value }) => [label, value] as const,
  );
  const tool = text(frame['tool_name']);
  const ask: Ask = { pendingId, kind, tool, title: text(frame['title']), rows, state: 'open' };
  const body = text(frame['body']);
  const does = rows.length === 0 && body !== '' ? { does: body } : {};
  if (kind !== 'input') return { ...plain(`ask:${pendingId}`), ask: { ...ask, ...does } };
  const id = text(frame['question_id']);
  const fields = Array.isArray(frame['fields']) ? (frame['fields'] as Field[]) : [];
  return {
    ...plain(`ask:${pendingId}:${id}`),
    ask: { ...ask, rows: [], question: { id, message: text(frame['message']), fields } },
  };
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

const entriesOf = (frame: Frame): Entry[] =>
  (Array.isArray(frame['messages']) ? (frame['messages'] as unknown[]) : []).map(entryOf);
const cursorOf = ({ cursor }: Frame): string | undefined => (typeof cursor === 'string' ? cursor : undefined);

/** Makes an entry from a message of a history or of a frame. */
function entryOf(message: unknown): Entry {
  const given = (typeof message === 'object' && message !== null ? message : {}) as Record<string, unknown>;
  const role = text(given['role']);
  return {
    id: text(given['id']),
    clientId: typeof given['client_message_id'] === 'string' ? given['client_message_id'] : undefined,
    role: role === 'customer' || role === 'ai' || role === 'agent' ? role : 'system',
    body: text(given['body']),
    timestamp: typeof given['timestamp'] === 'string' ? given['timestamp'] : undefined,
    sources: (Array.isArray(given['sources']) ? (given['sources'] as unknown[]) : []).flatMap(sourceOf),
    ...offersOf(given['offers']),
    senderName: typeof given['sender_name'] === 'string' ? given['sender_name'] : undefined,
    state: 'there',
  };
}

function offersOf(given: unknown): Pick<Entry, 'offers'> {
  const offers = (Array.isArray(given) ? (given as unknown[]) : []).flatMap((offer): Offer[] => {
    const { heading, question, says } = (typeof offer === 'object' && offer !== null ? offer : {}) as Record<
      string,
      unknown
    >;
    if (text(heading) === '' || text(question) === '') return [];
    return [{ heading: text(heading), question: text(question), says: text(says) }];
  });
  return offers.length === 0 ? {} : { offers };
}

function sourceOf(source: unknown): Source[] {
  if (typeof source !== 'object' || source === null) return [];
  const { name: given, title, url } = source as Record<string, unknown>;
  const name = title ?? given;
  return typeof name === 'string' ? [{ name, ...(typeof url === 'string' ? { url } : {}) }] : [];
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const statusOf = (value: unknown, otherwise: Status): Status =>
  statuses.includes(text(value)) ? (value as Status) : otherwise;

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
