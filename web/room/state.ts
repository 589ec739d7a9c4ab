/**
 * The state of an interview room after each frame from the server. Pure: it knows neither the page nor the connection.
 */
import type { RoomServerFrame } from '../../api/interviews/contract/rooms.ts';

type FrameOf<T extends RoomServerFrame['type']> = Extract<RoomServerFrame, { type: T }>;
type Message = FrameOf<'history'>['messages'][number];
type Welcome = FrameOf<'welcome'>;
type Role = Welcome['role'];
export type Suggestion = FrameOf<'suggestion'>;
export type Entry = {
  /** The server's id; undefined until the server has acknowledged the message. */
  id: string | undefined;
  clientId?: string;
  by: Role | 'ai';
  body: string;
  state: 'there' | 'waiting' | 'failed';
};

export type Room = {
  /** `language`: the language of the interview, in which the page is shown. */
  welcome: Welcome | undefined;
  /** `waiting`: the candidate has not consented yet. */
  stage: 'waiting' | 'running' | 'over';
  seq: number | undefined;
  entries: readonly Entry[];
  question: FrameOf<'question'> | undefined;
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

/** Maximum number of suggestions shown, because an interviewer can read few while somebody speaks. */
const shownSuggestions = 3;

export function receive(before: Room, frame: RoomServerFrame): Room {
  const room = { ...before, seq: frame.seq, fault: undefined, early: false };
  switch (frame.type) {
    case 'welcome':
      return { ...room, welcome: frame, stage: frame.status === 'in_progress' ? 'running' : 'waiting' };
    case 'history': {
      const waiting = room.entries.filter(({ id, clientId }) => id === undefined && clientId !== undefined);
      return { ...room, entries: [...frame.messages.map(entryOf), ...waiting] };
    }
    case 'joined':
      return { ...room, stage: 'running' };
    case 'question': {
      const entry: Entry = { id: `question:${frame.question_id}`, by: 'ai', body: frame.body, state: 'there' };
      return { ...room, stage: 'running', question: frame, entries: placed(room.entries, entry) };
    }
    case 'ack': {
      const { message_id: id, client_message_id: clientId } = frame;
      const isSent = (entry: Entry): boolean => entry.clientId === clientId;
      // After a reload, `history` may already contain the message, but without the client's id. Then the entry from
      // `history` stays, and the sent one is removed.
      const isTwice = room.entries.some((entry) => entry.id === id && !isSent(entry));
      const entries = room.entries
        .filter((entry) => !isTwice || !isSent(entry))
        .map((entry): Entry => (entry.id === id || isSent(entry) ? { ...entry, id, clientId, state: 'there' } : entry));
      return { ...room, entries };
    }
    case 'message':
      return { ...room, entries: placed(room.entries, entryOf(frame)) };
    case 'suggestion': {
      // A suggestion's id without its trailing number identifies what the suggestion responds to. Suggestions that
      // respond to something earlier are outdated.
      const occasion = (id: string): string => id.replace(/:\d+$/, '');
      const others = room.suggestions.filter(
        ({ suggestion_id: id }) => occasion(id) === occasion(frame.suggestion_id) && id !== frame.suggestion_id,
      );
      return { ...room, suggestions: [...others, frame].slice(-shownSuggestions) };
    }
    case 'ended':
      return { ...room, stage: 'over', ending: frame.message, suggestions: [] };
    case 'error':
      return refused(room, frame);
    default:
      return room;
  }
}

function refused(room: Room, { code, message, client_message_id: id, not_begun }: FrameOf<'error'>): Room {
  // A message that failed temporarily is sent again; only a refusal is final.
  const final = !['INTERNAL', 'UNAVAILABLE', 'RATE_LIMITED'].includes(code);
  const entries = room.entries.map((entry): Entry =>
    final && id !== undefined && entry.clientId === id ? { ...entry, state: 'failed' } : entry,
  );
  // The server's sentences are in English, so only a final refusal is shown in them. The page tells of temporary errors
  // in its own language.
  return { ...room, entries, fault: final ? message : undefined, early: not_begun === true };
}

const entryOf = ({ message_id: id, role: by, body }: Message): Entry => ({ id, by, body, state: 'there' });

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
