/** What is read of an interview in the words of somebody who asks for one, and its bounds. Pure. */

export const draftModes = ['solo', 'copilot', 'shadow'] as const;
export type DraftMode = (typeof draftModes)[number];

/** What was not said is left out. */
export type DraftWords = {
  role_title?: string;
  skills: string[];
  evaluation_criteria: string[];
  question_count?: number;
  mode?: DraftMode;
  meeting_url?: string;
  candidate_email?: string;
  candidate_name?: string;
};

export const draftBounds = {
  prompt: 8_000,
  role: 200,
  names: 20,
  name: 100,
  questions: 50,
  usualQuestions: 8,
} as const;
