/** The transcript of a meeting or an interview: its segments, bounds and participants. Pure. */
import { invalid, Problem } from '../base/errors.ts';
import {
  boolean,
  date,
  embedded,
  number,
  oneOf,
  optional,
  string,
  type RecordWith,
  type ValueOf,
} from '../base/fields.ts';

/** The role of a speaker in an interview. It is absent in a meeting, and when a meeting bot does not know the role. */
const speakerRoles = ['candidate', 'interviewer', 'ai'] as const;
export type SpeakerRole = (typeof speakerRoles)[number];

/** The fields of a segment: one piece of speech of one speaker. */
export const saidFields = {
  /** The idempotency key, which the client chooses. A segment that is sent twice with the same id is stored once. */
  id: string,
  speaker: string,
  text: string,
  at: date,
  is_ai: boolean,
  role: optional(oneOf(speakerRoles)),
  /** The interview question that this segment asks or answers. */
  question_id: optional(string),
};
export type Said = RecordWith<typeof saidFields>;

/**
 * The bounds of a transcript. A day of speech has about 15,000 segments and 1 million characters. One request may
 * contain an hour of speech.
 */
export const transcriptBounds = {
  segments: 20_000,
  characters: 4_000_000,
  speakers: 200,
  segmentsPerRequest: 1_000,
  charactersPerSegment: 10_000,
} as const;

export const transcriptSize = embedded({ segments: number, characters: number });
export type TranscriptSize = ValueOf<typeof transcriptSize>;

export const sizeOf = (said: readonly Pick<Said, 'text'>[]): TranscriptSize => ({
  segments: said.length,
  characters: said.reduce((sum, { text }) => sum + text.length, 0),
});

export const transcriptFull = (): Problem =>
  new Problem('TOO_LARGE', {
    message: `A transcript has at most ${transcriptBounds.segments} segments, ${transcriptBounds.characters} characters and ${transcriptBounds.speakers} speakers.`,
  });

/**
 * Parses a time that a client sent, ISO 8601 with a time zone.
 * @throws Problem VALIDATION for a year before 1970 or after 2999.
 */
export function momentOf(text: string, path: (string | number)[]): Date {
  const at = new Date(text);
  if (at.getUTCFullYear() >= 1970 && at.getUTCFullYear() < 3000) return at;
  throw invalid(path, 'must be a time between the years 1970 and 3000');
}

export type Participant = { name: string; segments: number; is_ai: boolean };

/** The speakers of a transcript in the order in which they first spoke. */
export function participantsOf(said: readonly Pick<Said, 'speaker' | 'is_ai'>[]): Participant[] {
  const found = new Map<string, Participant>();
  for (const { speaker, is_ai } of said) {
    const known = found.get(speaker);
    if (known) known.segments += 1;
    else found.set(speaker, { name: speaker, segments: 1, is_ai });
  }
  return [...found.values()];
}
