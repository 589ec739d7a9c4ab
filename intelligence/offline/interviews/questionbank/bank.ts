/**
 * The sentences of questions that no language model writes, in each language a file of its own. questions.ts puts in
 * `{role}`, `{skill}`, `{criterion}`, `{quote}` and `{doing}`. A skill or a criterion may be any noun phrase ("React",
 * "patience", "forklift licence"), so a sentence quotes it and says nothing of it that only some of them allow.
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
  /** `plain`: for a role that has no title. */
  opening: { named: string; plain: string };
  /** What is asked about a skill; the other categories have standard questions alone. */
  aboutSkill: Partial<ByCategory<Template>>;
  /** What is asked about a criterion, or about a category that has no sentences of its own. */
  aboutCriterion: readonly string[];
  /** What is asked about a line of a resume. */
  aboutQuote: {
    achievement: readonly string[];
    position: readonly string[];
    skill: string;
    missing: string;
  };
  /** Standard questions, which suit any trade. */
  general: ByCategory<Template>;
  /** What is done in any trade, as the end of "when you …" and "how you …": what is left to ask when everything else is asked. */
  doings: readonly string[];
  aboutDoing: ByCategory<string>;
};
