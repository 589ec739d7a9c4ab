/**
 * The state of an interview room after each frame from the server. Pure: it knows neither the page nor the connection.
 */
import type { Frame } from '../live/frame.ts';

export type Role = 'candidate' | 'interviewer';
export type Entry = {
  /** The server's id; undefined until the server has acknowledged the message. */
  id: string | undefined;
  clientId?: string;
  by: Role | 'ai';
  body: string;
  state: 'there' | 'waiting' | 'failed';
};
export type Welcome = {
  role: Role;
  mode: 'solo' | 'copilot' | 'shadow';
  /** The language of the interview, such as `de`, in which the page is shown. */
  language: string;
  title: string;
  questions: number;
  notice: string;
};
export type Suggestion = { id: string; kind: string; body: string };
export type Question = { id: string; index: number; total: number; body: string };

export type Room = {
  welcome: Welcome | undefined;
  /** `waiting`: the candidate has not consented yet. */
  stage: 'waiting' | 'running' | 'over';
  seq: number | undefined;
  entries: readonly Entry[];
  question: Question | undefined;
  suggestions: readonly Suggestion[];
  /** The server's sentence that tells how the interview ended. */
  ending: string | undefined;
  /** The server's error for something that it refused for good. */
  fault: string | undefined;
  /** Whether the server does not let anybody into the room yet. */
  early: boolean;
};

export const emptyRoom: Room = {
  welcome: undefined,
  stage: 'waiting',
  seq: undefined,
  entries: [],
  question: undefined,
  suggestions: [],
  ending: undefined,
  fault: undefined,
  early: false,
};

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
/** Maximum number of suggestions shown, because an interviewer can read few while somebody speaks. */
const shownSuggestions = 3;

export function receive(before: Room, frame: Frame): Room {
  const room = { ...before, seq: frame.seq, fault: undefined, early: false };
  switch (frame.type) {
    case 'welcome':
      return welcomed(room, frame);
    case 'history': {
      const list = frame['messages'] as Frame[];
      const waiting = room.entries.filter(({ id, clientId }) => id === undefined && clientId !== undefined);
      return { ...room, entries: [...list.map(entryOf), ...waiting] };
    }
    case 'joined':
      return { ...room, stage: 'running' };
    case 'question': {
      const question = {
        id: text(frame['question_id']),
        index: Number(frame['index']),
        total: Number(frame['total']),
        body: text(frame['body']),
      };
      const entry: Entry = { id: `question:${question.id}`, by: 'ai', body: question.body, state: 'there' };
      return { ...room, stage: 'running', question, entries: placed(room.entries, entry) };
    }
    case 'ack': {
      const entries = room.entries.map((entry): Entry =>
        entry.clientId === frame['client_message_id']
          ? { ...entry, id: text(frame['message_id']), state: 'there' }
          : entry,
      );
      return { ...room, entries };
    }
    case 'message':
      return { ...room, entries: placed(room.entries, entryOf(frame)) };
    case 'suggestion': {
      const suggestion = { id: text(frame['suggestion_id']), kind: text(frame['kind']), body: text(frame['body']) };
      // A suggestion's id without its trailing number identifies what the suggestion responds to. Suggestions that
      // respond to something earlier are outdated.
      const occasion = (id: string): string => id.replace(/:\d+$/, '');
      const others = room.suggestions.filter(
        ({ id }) => occasion(id) === occasion(suggestion.id) && id !== suggestion.id,
      );
      return { ...room, suggestions: [...others, suggestion].slice(-shownSuggestions) };
    }
    case 'ended':
      return { ...room, stage: 'over', ending: text(frame['message']), suggestions: [] };
    case 'error':
      return refused(room, frame);
    default:
      return room;
  }
}

function welcomed(room: Room, frame: Frame): Room {
  const welcome: Welcome = {
    role: frame['role'] as Role,
    mode: frame['mode'] as Welcome['mode'],
    language: text(frame['language']),
    title: text(frame['role_title']),
    questions: Number(frame['question_count']),
    notice: text(frame['ai_notice']),
  };
  return { ...room, welcome, stage: frame['status'] === 'in_progress' ? 'running' : 'waiting' };
}

function refused(room: Room, frame: Frame): Room {
  const id = frame['client_message_id'];
  // A message that failed temporarily is sent again; only a refusal is final.
  const final = !['INTERNAL', 'UNAVAILABLE', 'RATE_LIMITED'].includes(text(frame['code']));
  const entries = room.entries.map((entry): Entry =>
    final && id !== undefined && entry.clientId === id ? { ...entry, state: 'failed' } : entry,
  );
  // The server's sentences are in English, so only a final refusal is shown in them. The page tells of temporary errors
  // in its own language.
  const fault = final ? text(frame['message']) : undefined;
  return { ...room, entries, fault, early: frame['not_begun'] === true };
}

const entryOf = (frame: Frame | Record<string, unknown>): Entry => ({
  id: text(frame['message_id']),
  by: frame['role'] as Entry['by'],
  body: text(frame['body']),
  state: 'there',
});

/** Adds a message without duplicates; unacknowledged messages stay last. */
function placed(entries: readonly Entry[], entry: Entry): Entry[] {
  const at = entries.findIndex(({ id }) => id === entry.id);
  if (at !== -1) return entries.with(at, { ...entries[at]!, ...entry });
  const there = entries.filter(({ id }) => id !== undefined);
  return [...there, entry, ...entries.filter(({ id }) => id === undefined)];
}

/** Adds a message that was written on this page and is not acknowledged yet. */
export const say = (room: Room, clientId: string, by: Role, body: string): Room => ({
  ...room,
  fault: undefined,
  entries: [...room.entries, { id: undefined, clientId, by, body, state: 'waiting' }],
});
