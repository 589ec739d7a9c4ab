/**
 * What the sentences of questions are made of, in each language a file of its own, where no language model writes them. Pure:
 * `{skill}`, `{criterion}`, `{aspect}`, `{quote}` and `{role}` are put in by questions.ts.
 */

export const questionCategories = ['introduction', 'technical', 'behavioral', 'situational', 'motivation'] as const;
export type QuestionCategory = (typeof questionCategories)[number];

export const levels = ['junior', 'mid', 'senior', 'lead'] as const;
export type Level = (typeof levels)[number];

/** `for`: the levels that a question suits; all of them unless told. */
export type Template = { body: string; for?: readonly Level[] };

export const of = (suits: readonly Level[], ...bodies: string[]): Template[] =>
  bodies.map((body) => ({ body, for: suits }));
export const all = (...bodies: string[]): Template[] => bodies.map((body) => ({ body }));

type ByCategory<T> = Readonly<Record<QuestionCategory, readonly T[]>>;
export type Bank = {
  opening: string;
  /** What is asked about a skill. */
  aboutSkill: ByCategory<Template>;
  /** What is asked about a criterion, or about a category that has no sentences of its own. */
  aboutCriterion: readonly Template[];
  /** What is asked about a line of a resume. */
  aboutQuote: {
    achievement: readonly string[];
    position: readonly string[];
    skill: string;
    missing: string;
  };
  general: ByCategory<Template>;
  /** Parts of any work: what is left to ask when everything else is asked. */
  aspects: readonly string[];
  aboutAspect: ByCategory<string>;
  /** What is scored where nobody chose and no skills are named. */
  usualCriteria: readonly string[];
};
