/** What is said in a meeting or an interview: the parts of a transcript, its bounds, and who took part. Pure. */
import { Problem } from '../base/errors.ts';
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

/** Who speaks in an interview; absent in a meeting, and where a meeting bot cannot tell. */
const speakerRoles = ['candidate', 'interviewer', 'ai'] as const;
export type SpeakerRole = (typeof speakerRoles)[number];

/** One piece of speech, of one speaker. */
export const saidFields = {
  /** Given by whoever sends it; the same id is stored once. */
  id: string,
  speaker: string,
  text: string,
  at: date,
  is_ai: boolean,
  role: optional(oneOf(speakerRoles)),
  /** In an interview: the question that is asked or answered here. */
  question_id: optional(string),
};
export type Said = RecordWith<typeof saidFields>;

/**
 * Bounds of a transcript. A day of speech is some 15,000 segments and 1 million characters; a request holds an hour.
 */
export const transcriptBounds = {
  segments: 20_000,
  characters: 4_000_000,
  speakers: 200,
  segmentsPerRequest: 1_000,
  charactersPerSegment: 10_000,
} as const;

/** How much a transcript holds. */
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
 * A time as it was sent, ISO 8601 with a zone.
 * @throws Problem VALIDATION for a year that is none of ours.
 */
export function momentOf(text: string, path: (string | number)[]): Date {
  const at = new Date(text);
  if (at.getUTCFullYear() >= 1970 && at.getUTCFullYear() < 3000) return at;
  throw new Problem('VALIDATION', { details: [{ path, message: 'must be a time between the years 1970 and 3000' }] });
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
