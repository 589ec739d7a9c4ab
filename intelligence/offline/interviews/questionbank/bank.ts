/**
 * Templates of the questions that are made without a language model. Each language has its own file. questions.ts fills
 * in `{role}`, `{skill}`, `{criterion}`, `{quote}` and `{doing}`. A skill or a criterion may be any noun phrase
 * ("React", "patience", "forklift licence"), so every template must be correct with any noun phrase.
 */

export const questionCategories = ['introduction', 'technical', 'behavioral', 'situational', 'motivation'] as const;
export type QuestionCategory = (typeof questionCategories)[number];

export const levels = ['junior', 'mid', 'senior', 'lead'] as const;
export type Level = (typeof levels)[number];

/** `for`: the experience levels that a question suits; by default all levels. */
export type Template = { body: string; for?: readonly Level[] };

export const of = (suits: readonly Level[], ...bodies: string[]): Template[] =>
  bodies.map((body) => ({ body, for: suits }));
export const all = (...bodies: string[]): Template[] => bodies.map((body) => ({ body }));

type ByCategory<T> = Readonly<Record<QuestionCategory, readonly T[]>>;
export type Bank = {
  /** The opening question. `plain`: for a role without a title. */
  opening: { named: string; plain: string };
  /** Questions about a skill. Categories without an entry have only standard questions. */
  aboutSkill: Partial<ByCategory<Template>>;
  /** Questions about a criterion, or about a custom category, which has no templates of its own. */
  aboutCriterion: readonly string[];
  /** Questions about a quoted line of a resume. */
  aboutQuote: {
    achievement: readonly string[];
    position: readonly string[];
    skill: string;
    missing: string;
  };
  /** Standard questions, which suit any profession. */
  general: ByCategory<Template>;
  /**
   * Activities of any profession, which complete "when you …" and "how you …". They are used when all other questions
   * are used up.
   */
  doings: readonly string[];
  aboutDoing: ByCategory<string>;
};
