/**
 * Makes interview questions without a language model. A question quotes the job description or the resume, or is a
 * standard question that suits any profession. Questions are deterministic: the same input gives the same questions.
 * They state nothing about the candidate that the resume does not state.
 */
import { partsOf, questionCategories, type Level, type QuestionCategory } from './questionbank/bank.ts';
import { banks } from './questionbank/index.ts';
import { resumePoints, type ResumePoint } from './resume.ts';
import { mentions, skillsOf } from './skills.ts';
import type { QuestionsAsk } from '../../intelligence.ts';
import { inTurns } from '../../../models/rules/base/turns.ts';
import { usualCriteria } from '../../../models/rules/interviews/criteria.ts';
import type { NewQuestion } from '../../../models/rules/interviews/questions.ts';
import { fold } from '../../../models/rules/language/words.ts';

const bankOf = ({ language = 'en' }: Pick<QuestionsAsk, 'language'>) => banks[language];

/** The default categories. The questions cycle through them in this order. */
const usualTurns = ['technical', 'behavioral', 'technical', 'situational', 'behavioral', 'motivation'] as const;
/** The maximum share of questions about the resume. */
const resumeShare = 0.5;
/** The maximum number of questions about skills that the resume lacks. More would sound like a reproach. */
const maxLacking = 2;
/**
 * The experience level when the request names none. At this level, no question assumes that the candidate leads a team.
 */
const unnamedLevel: Level = 'mid';
/** The role title of an interview whose role is unknown. */
const untitled = 'interview';

/** At most `ask.count` distinct questions: first the opening question, then the categories in turn. */
export function questionsFor(ask: QuestionsAsk): NewQuestion[] {
  const order = { ...ask, skills: skillsOf(ask) };
  const asked = namesOf(order.categories ?? []);
  const turns = asked.length > 0 ? asked : [...usualTurns];
  const opens = asked.length === 0 || asked.some((name) => kindOf(name) === 'introduction');
  const points = order.resume === undefined ? [] : resumePoints(order.resume);
  const personal = aboutResume(order, points);
  // Skills that the resume lacks and that a question in `personal` already asks about. Further questions about them
  // come last.
  const later = order.skills.filter((skill) => personal.includes(missingIn(order, skill)));
  const carriers = carriersOf(turns);
  const pools = new Map(
    [...new Set(turns)].map((name, at) => {
      const ofResume = carriers.includes(name) ? inShares(personal, carriers, name) : [];
      return [name, poolOf(name, startingAt(at, order), ofResume, later)] as const;
    }),
  );
  const first = asked.find((name) => kindOf(name) === 'introduction') ?? 'introduction';
  const found = new Map<string, NewQuestion>();
  const add = (category: string, body: string): boolean => {
    if (found.has(fold(body))) return false;
    found.set(fold(body), { category, body });
    return true;
  };
  if (opens) add(first, openingOf(order));
  for (let turn = 0; found.size < order.count && [...pools.values()].some(({ length }) => length > 0); turn += 1) {
    const name = turns[turn % turns.length]!;
    const pool = pools.get(name)!;
    while (pool.length > 0 && !add(name, pool.shift()!));
  }
  return [...found.values()].slice(0, order.count);
}

function openingOf(order: QuestionsAsk): string {
  const { named, plain } = bankOf(order).opening;
  return fold(order.role_title.trim()) === untitled ? plain : named.replace('{role}', () => order.role_title);
}

/** The same input with the skills rotated by `at`, so that two categories do not begin with the same skill. */
function startingAt(at: number, order: QuestionsAsk): QuestionsAsk {
  const from = order.skills.length === 0 ? 0 : at % order.skills.length;
  return { ...order, skills: [...order.skills.slice(from), ...order.skills.slice(0, from)] };
}

/** Trims the names and removes duplicates; case is ignored. */
const namesOf = (names: readonly string[]): string[] => [
  ...new Map(names.map((name) => [fold(name.trim()), name.trim()])).values(),
];

/** Patterns that map a custom category name to a built-in category. */
const kinds: readonly [QuestionCategory, RegExp][] = [
  ['introduction', /intro|background|general|experience|resume|warm/],
  ['technical', /techni|coding|code|system|architect|domain|skill|knowledge|tool/],
  ['situational', /situat|problem|case|scenario|hypothe|analy/],
  ['motivation', /motiv|career|goal|ambition/],
];

function kindOf(name: string): QuestionCategory {
  const own = questionCategories.find((category) => category === fold(name));
  return own ?? kinds.find(([, pattern]) => pattern.test(fold(name)))?.[0] ?? 'behavioral';
}

/** The categories that get questions about the resume: technical, behavioral and introduction, or else all. */
function carriersOf(turns: readonly string[]): string[] {
  const each = [...new Set(turns)];
  const fit = each.filter((name) => ['technical', 'behavioral', 'introduction'].includes(kindOf(name)));
  return fit.length > 0 ? fit : each;
}

/** Distributes the items to the owners in turn, and returns the items of one owner. */
const inShares = <T>(items: readonly T[], owners: readonly string[], owner: string): T[] =>
  items.filter((_, index) => owners[index % owners.length] === owner);

/** All possible questions of a category, the most suitable first. */
function poolOf(name: string, order: QuestionsAsk, ofResume: readonly string[], later: readonly string[]): string[] {
  const { aboutCriterion, aboutDoing, aboutSkill, doings, general } = bankOf(order);
  const kind = kindOf(name);
  const level = levelOf(order.experience_level) ?? unnamedLevel;
  const suiting = (templates: readonly string[]): string[] =>
    templates.map(partsOf).flatMap(({ suits, body }) => (suits.includes(level) ? [body] : []));
  const ofSkill = suiting(aboutSkill[kind]);
  const known = new Set([...order.skills, ...usualCriteria[order.language ?? 'en']].map(fold));
  const isOwn = questionCategories.some((category) => category === fold(name));
  const criteria = order.criteria.filter((criterion) => !known.has(fold(criterion)));
  const ofWork = mixed([
    isOwn ? [] : filled(aboutCriterion, '{criterion}', [name.replaceAll(/[_-]+/g, ' ').toLowerCase()]),
    filled(
      ofSkill,
      '{skill}',
      order.skills.filter((skill) => !later.includes(skill)),
    ),
    kind === 'behavioral' ? filled(aboutCriterion, '{criterion}', criteria) : [],
    suiting(general[kind]),
  ]);
  return [
    ...mixed([ofResume, ofWork]),
    ...filled(ofSkill, '{skill}', later),
    ...filled(aboutDoing[kind], '{doing}', doings),
  ];
}

/** Fills each template with each value. Where possible, adjacent results differ in both the template and the value. */
const filled = (bodies: readonly string[], slot: string, values: readonly string[]): string[] =>
  bodies.flatMap((_, round) =>
    values.map((value, at) => bodies[(round + at) % bodies.length]!.replaceAll(slot, () => value)),
  );

/** Merges the lists by taking one item of each list in turn. */
const mixed = (lists: readonly (readonly string[])[]): string[] =>
  inTurns(
    lists.flatMap((bodies, list) => bodies.map((body) => ({ body, list }))),
    ({ list }) => String(list),
  ).map(({ body }) => body);

/** Questions about the resume: its skills, achievements and positions, and the required skills that it lacks. */
function aboutResume(order: QuestionsAsk, points: readonly ResumePoint[]): string[] {
  const { skills, count, resume = '' } = order;
  if (resume.trim() === '') return [];
  const { aboutQuote } = bankOf(order);
  const put = (body: string, quote: string, skill = ''): string =>
    body.replaceAll('{quote}', () => quote).replaceAll('{skill}', () => skill);
  const quoted = new Set<string>();
  const ofSkills = skills.flatMap((skill) => {
    const point = points.find(({ text }) => !quoted.has(text) && mentions(text, skill));
    if (!point) return [];
    quoted.add(point.text);
    return [put(aboutQuote.skill, point.text, skill)];
  });
  const left = points.filter(({ text }) => !quoted.has(text));
  const ofKind = (kind: ResumePoint['kind']): string[] =>
    left
      .filter((point) => point.kind === kind)
      .map(({ text }, index) => {
        const templates = aboutQuote[kind];
        return put(templates[index % templates.length]!, text);
      });
  const lacking = skills
    .filter((skill) => !mentions(resume, skill))
    .slice(0, maxLacking)
    .map((skill) => missingIn(order, skill));
  const all = mixed([ofSkills, lacking, ofKind('achievement'), ofKind('position')]);
  return all.slice(0, Math.max(1, Math.floor(count * resumeShare)));
}

const missingIn = (order: QuestionsAsk, skill: string): string =>
  bankOf(order).aboutQuote.missing.replace('{skill}', () => skill);

const levelWords: readonly [Level, RegExp][] = [
  [
    'lead',
    /\b(?:lead\w*|manag\w+|head|director|vp|chief|executive|leitung|leiter\w*)\b|\bchef(?:fe)?\sd(?!e (?:partie|rang))/,
  ],
  ['senior', /\b(?:senior|sr|staff (?:\w+ )?engineer|principal|expert\w*|advanced|confirme|erfahren\w*)\b/],
  [
    'junior',
    /\b(?:junior|jr|entry\w*|interns?(?:hip)?|graduate|beginner|trainee|apprentice|einsteiger\w*|debutant\w*|student)\b/,
  ],
  ['mid', /\b(?:mid(?:dle|level)?|intermediate|regular|medior|professional)\b/],
];

/** The experience level that a text names; undefined when the text names none. */
export function levelOf(text: string | undefined): Level | undefined {
  const said = fold(text ?? '');
  const named = levelWords.find(([, pattern]) => pattern.test(said))?.[0];
  if (named !== undefined) return named;
  const years = /(\d{1,2})\s*(?:\+|-|–|to|or more)?\s*(?:\d{1,2}\s*)?(?:years?|yrs?|jahre?n?|ans|anos)/.exec(said)?.[1];
  if (years === undefined) return undefined;
  return Number(years) < 2 ? 'junior' : Number(years) < 5 ? 'mid' : 'senior';
}
