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
  /**
   * Templates of questions about a skill, some of them for certain levels only. A category without such templates has
   * only standard questions.
   */
  aboutSkill: ByCategory;
  /** Questions about a criterion, or about a custom category, which has no templates of its own. */
  aboutCriterion: readonly string[];
  /** Questions about a quoted line of a resume. */
  aboutQuote: {
    achievement: readonly string[];
    position: readonly string[];
    skill: string;
    missing: string;
  };
  /** Standard questions, which suit any profession. Some are for certain levels only. */
  general: ByCategory;
  /**
   * Activities of any profession, which complete "when you …" and "how you …". They are used when all other questions
   * are used up.
   */
  doings: readonly string[];
  aboutDoing: ByCategory;
};

/**
 * Reads a bank from rows. A row has a path in the bank, ` | ` and a template: `general behavioral | lead: Tell us …`.
 * Templates with the same path form a list.
 */
export function bankFrom(rows: string): Bank {
  const lists = new Map<string, string[]>();
  for (const row of rows.trim().split('\n')) {
    const bar = row.indexOf(' | ');
    const path = row.slice(0, bar);
    lists.set(path, [...(lists.get(path) ?? []), row.slice(bar + 3)]);
  }
  const all = (path: string): string[] => lists.get(path)?.splice(0) ?? [];
  const one = (path: string): string => lists.get(path)!.shift()!;
  const byCategory = (path: string): ByCategory => ({
    introduction: all(`${path} introduction`),
    technical: all(`${path} technical`),
    behavioral: all(`${path} behavioral`),
    situational: all(`${path} situational`),
    motivation: all(`${path} motivation`),
  });
  const bank: Bank = {
    opening: { named: one('opening named'), plain: one('opening plain') },
    aboutSkill: byCategory('aboutSkill'),
    aboutCriterion: all('aboutCriterion'),
    aboutQuote: {
      achievement: all('aboutQuote achievement'),
      position: all('aboutQuote position'),
      skill: one('aboutQuote skill'),
      missing: one('aboutQuote missing'),
    },
    general: byCategory('general'),
    doings: all('doings'),
    aboutDoing: byCategory('aboutDoing'),
  };
  for (const [path, [left]] of lists) if (left !== undefined) throw new Error(`No place for a row: ${path} | ${left}`);
  return bank;
}

/**
 * Splits a template into the experience levels that it suits and its body. For example, `junior, mid: How do you …`
 * names its levels; a template without levels suits all levels.
 */
export function partsOf(template: string): { suits: readonly string[]; body: string } {
  const [prefix = '', named] = /^((?:junior|mid|senior|lead)(?:, \w+)*): /.exec(template) ?? [];
  return { suits: named?.split(', ') ?? levels, body: template.slice(prefix.length) };
}
