/** The fields of an interview that are extracted from a free-text request, and their bounds. Pure. */
import type { InterviewMode } from './interview.ts';

/** The extracted fields. A field that the request does not mention is absent. */
export type DraftWords = {
  role_title?: string;
  skills: string[];
  evaluation_criteria: string[];
  question_count?: number;
  mode?: InterviewMode;
  meeting_url?: string;
  candidate_email?: string;
  candidate_name?: string;
};

export const draftBounds = { prompt: 8_000, role: 200, names: 20, name: 100 } as const;
