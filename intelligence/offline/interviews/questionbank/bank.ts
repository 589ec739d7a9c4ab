/**
 * Templates of the questions that are made without a language model. Each language has its own file. questions.ts fills
 * in `{role}`, `{skill}`, `{criterion}`, `{quote}` and `{doing}`. A skill or a criterion may be any noun phrase
 * ("React", "patience", "forklift licence"), so every template must be correct with any noun phrase.
 */

export const questionCategories = ['introduction', 'technical', 'behavioral', 'situational', 'motivation'] as const;
export type QuestionCategory = (typeof questionCategories)[number];

export const levels = ['junior', 'mid', 'senior', 'lead'] as const;
export type Level = (typeof levels)[number];

type ByCategory = Readonly<Record<QuestionCategory, readonly string[]>>;
export type Bank = {
  /** The opening question. `plain`: for a role without a title. */
  opening: { named: string; plain: string };
  /** Questions about a skill, which may name levels. Categories without an entry have only standard questions. */
  aboutSkill: Partial<ByCategory>;
  /** Questions about a criterion, or about a custom category, which has no templates of its own. */
  aboutCriterion: readonly string[];
  /** Questions about a quoted line of a resume. */
  aboutQuote: {
    achievement: readonly string[];
    position: readonly string[];
    skill: string;
    missing: string;
  };
  /** Standard questions, which suit any profession. They may name levels. */
  general: ByCategory;
  /**
   * Activities of any profession, which complete "when you …" and "how you …". They are used when all other questions
   * are used up.
   */
  doings: readonly string[];
  aboutDoing: ByCategory;
};

/**
 * Splits a template into the experience levels that it suits and its body. `junior, mid: How do you …` names its levels;
 * a template without levels suits all levels.
 */
export function partsOf(template: string): { suits: readonly string[]; body: string } {
  const [prefix = '', named] = /^((?:junior|mid|senior|lead)(?:, \w+)*): /.exec(template) ?? [];
  return { suits: named?.split(', ') ?? levels, body: template.slice(prefix.length) };
}
