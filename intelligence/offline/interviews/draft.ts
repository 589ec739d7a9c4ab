/**
 * Extracts the fields of an interview from a free-text request, by patterns: the role, skills, criteria, number of
 * questions, mode, meeting URL, and the candidate's name and email address. Fields that the text does not mention are
 * absent. Nothing is guessed about a person.
 */
import { skillsIn } from './skills.ts';
import { draftBounds, type DraftWords } from '../../../models/rules/interviews/draft.ts';
import { interviewBounds, unique } from '../../../models/rules/interviews/interview.ts';
import { defined } from '../../../models/rules/base/defined.ts';

/** Nouns that name a profession. The words before such a noun belong to the job title. */
const professions =
  listed(`engineer developer programmer architect scientist analyst designer manager director officer consultant administrator
  specialist technician tester recruiter accountant bookkeeper auditor controller lawyer paralegal nurse doctor physician pharmacist
  therapist teacher tutor lecturer researcher writer copywriter editor journalist translator marketer salesperson representative rep
  assistant secretary receptionist clerk agent coordinator planner buyer trader banker advisor adviser broker underwriter cashier
  driver chef cook waiter bartender barista carpenter plumber electrician welder mechanic operator supervisor foreman strategist
  producer photographer animator intern trainee apprentice lead head president owner master coach trainer ingenieur entwickler
  entwicklerin ingenieurin berater beraterin leiter leiterin sachbearbeiter sachbearbeiterin pflegekraft développeur ingénieur
  desarrollador desarrolladora ingeniero ingeniera sre dba cto ceo cfo vp`);
/** Words that cannot belong to a job title. A title begins after such a word or after a punctuation mark. */
const boundaries =
  listed(`a an the for as of our my your their his her new with to and or is are be be need needs want wants hire hiring
  looking seeking schedule set up plan create make draft prepare interview interviews interviewing screen screening candidate
  candidates position role job please who that this in on at by from i we us would like ein eine einen für als un une pour como para
  una der die das le la el los unser unsere suche suchen`);
/** The phrase that may follow `Head` or `Director` in a title, such as `of Sales`. */
const ofWhat =
  /^\s+of\s+((?:[\p{L}&/-]+\s*){1,3}?)(?=$|[,.;:!?]|\s+(?:with|on|at|for|who|in|next|tomorrow|to|and)\b)/iu;

const word = /[\p{L}\p{N}][\p{L}\p{N}+#./'’&-]*/gu;
const longestTitle = 6;

/** The job title as it is written, with a capital first letter; undefined when none is found. */
function roleIn(prompt: string): string | undefined {
  const text = withoutAddresses(prompt);
  const named =
    /\b(?:role|position|job)\s*(?:title)?\s*(?::|is|of(?: an?| the)?)\s*["“]?([\p{L}][\p{L}\p{N} +#./&-]{1,80}?)["”]?(?=$|[,.;:!?\n]|\s+(?:with|on|at|for|who|in|next|tomorrow|using)\b)/iu.exec(
      text,
    )?.[1];
  return byProfession(text) ?? titled(named) ?? titled(beforeRole(text)) ?? titled(afterFor(text));
}

function byProfession(text: string): string | undefined {
  const places = [...text.matchAll(word)];
  for (const [at, [raw]] of places.entries()) {
    const found = raw.replace(/[.,'’]+$/u, '');
    const singular = found.toLowerCase().replace(/s$/u, '');
    if (!isProfession(found) && !isProfession(singular)) continue;
    // `the hiring manager` and `lead the interview` do not name the job.
    const former = places[at - 1]?.[0].toLowerCase();
    if (
      former === 'hiring' ||
      (found.toLowerCase() === 'lead' && /^\s+(?:the|a|an|this)\b/u.test(after(text, places[at]!)))
    )
      continue;
    let from = at;
    while (from > 0 && at - from < longestTitle && joins(text, places[from - 1]!, places[from]!)) from -= 1;
    let to = at;
    // In `Customer Success Specialist Lead`, the last of the adjacent professions ends the title.
    while (
      to + 1 < places.length &&
      isProfession(places[to + 1]![0]) &&
      gap(text, places[to]!, places[to + 1]!) === ' '
    )
      to += 1;
    const end = places[to]!.index + places[to]![0].replace(/[.,'’]+$/u, '').length;
    const more = /^(?:head|director|vp|president|chief)$/iu.test(found)
      ? (ofWhat.exec(text.slice(end))?.[0] ?? '')
      : '';
    const title = titled(text.slice(places[from]!.index, end) + more);
    // A single word such as `agent` or `lead` is too vague for a title, so the search goes on.
    if (title !== undefined && (to > from || !/^(?:lead|head|master|owner|agent|operator)$/iu.test(title)))
      return title;
  }
  return undefined;
}

const after = (text: string, match: RegExpExecArray): string => text.slice(match.index + match[0].length);
/** German compound words end with the profession: `Softwareentwickler`. */
const compound = /\p{L}{3}(?:entwickler|ingenieur|berater|leiter|kaufmann|kauffrau|techniker|pfleger|fahrer)(?:in)?$/u;
function isProfession(name: string): boolean {
  const plain = name.toLowerCase().replace(/[.,]+$/u, '');
  return professions.has(plain) || compound.test(plain);
}
const gap = (text: string, one: RegExpExecArray, next: RegExpExecArray): string =>
  text.slice(one.index + one[0].length, next.index);
function joins(text: string, one: RegExpExecArray, next: RegExpExecArray): boolean {
  return (
    gap(text, one, next) === ' ' &&
    !/[.,:;]$/u.test(one[0]) &&
    !boundaries.has(one[0].toLowerCase()) &&
    !/^\d+$/u.test(one[0])
  );
}

const beforeRole = (text: string): string | undefined =>
  /(?:\b(?:for|an?|the)\s+)([\p{L}][\p{L}\p{N}+#./&-]*(?:\s[\p{L}][\p{L}\p{N}+#./&-]*){0,4})\s+(?:role|position|job)\b/iu.exec(
    text,
  )?.[1];
const afterFor = (text: string): string | undefined =>
  /\b(?:hire|hiring|recruit\w*|interview\w*(?:\s+for)?)\s+(?:an?|the)\s+([\p{L}][\p{L}\p{N}+#./&-]*(?:\s[\p{L}][\p{L}\p{N}+#./&-]*){0,3}?)(?=$|[,.;:!?]|\s+(?:with|on|at|for|who|in|next|tomorrow|using|by)\b)/iu.exec(
    text,
  )?.[1];

function titled(raw: string | undefined): string | undefined {
  const title = raw
    ?.replaceAll(/\s+/gu, ' ')
    .replace(/^(?:an?|the|our|new)\s+/iu, '')
    .replace(/\s+interview$/iu, '')
    .trim()
    .slice(0, draftBounds.role)
    .replace(/^\p{Ll}/u, (letter) => letter.toUpperCase());
  return title === undefined || title.length < 2 || /^(?:candidate|person|interview|job|role|position)$/iu.test(title)
    ? undefined
    : title;
}

/** A pattern for the end of a list of skills or criteria. */
const listEnd = String.raw`(?=$|[.;:!?\n]|\s+(?:for|on|at|who|next|tomorrow|today|using|by|in|evaluat\w+|assess\w*|scor\w+|focus\w*|rate|schedul\w+|the candidate|please|ask\w*|with)\b|,?\s+(?:and\s+)?\d+\s+questions?\b)`;
const skillCue = new RegExp(
  String.raw`\b(?:(?:required\s+)?skills?(?:\s+(?:in|like|such as|are|include|needed|should be))?|experience (?:with|in)|knowledge of|proficien\w+ (?:in|with)|familiar(?:ity)? with|expertise in|must (?:know|have)|covering|strong in|good at|knows)\s*:?\s+([^.;!?\n]{2,300}?)${listEnd}`,
  'giu',
);
const criterionCue = new RegExp(
  String.raw`\b(?:(?:evaluation\s+|scoring\s+)?criteria\s*(?:are|is|:)?|(?:evaluat|assess|scor|rat|judg)(?:e|es|ed|ing)?(?:\s+(?:them|him|her|the candidate|candidates))?(?:\s+(?:on|for|by))?(?:\s+(?:their|his|her))?)\s*:?\s+([^.;!?\n]{2,300}?)${listEnd}`,
  'giu',
);

function listedIn(text: string, cue: RegExp): string[] {
  return [...text.matchAll(cue)].flatMap(([, list]) =>
    list!
      .split(/\s*(?:,|;|\/|&|\band\b|\bor\b|\bund\b|\bet\b)\s*/iu)
      .map((name) => name.replace(/^(?:their|his|her|the|a|an|some|in|with|of|as well as|also)\s+/iu, '').trim())
      .filter(
        (name) =>
          name.length > 1 &&
          name.length <= 60 &&
          name.split(' ').length <= 4 &&
          !/\d{2}|@|^(?:it|them|this|that)$/u.test(name),
      ),
  );
}

const capital = (name: string): string => name.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase());

/**
 * The name in the spelling of the vocabulary that `skillsIn` uses; a name that the vocabulary lacks stays unchanged.
 */
const spelled = (name: string): string =>
  skillsIn(name).find((skill) => skill.toLowerCase() === name.toLowerCase()) ?? name;
const namesOf = (names: readonly string[]): string[] =>
  unique(names.map((name) => spelled(name).slice(0, draftBounds.name))).slice(0, draftBounds.names);

const numbers: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    'one two three four five six seven eight nine ten eleven twelve'.split(' ').map((word, at) => [word, at + 1]),
  ),
  fifteen: 15,
  twenty: 20,
  'a dozen': 12,
};
const countPattern = new RegExp(
  String.raw`\b(\d{1,3}|${Object.keys(numbers).join('|')})[\s-]+(?:[\p{L}-]+\s+){0,2}(?:questions?|fragen|preguntas)\b`,
  'iu',
);

const modeWords: readonly [NonNullable<DraftWords['mode']>, RegExp][] = [
  [
    'shadow',
    /\b(?:shadow\w*|silent\w*|only (?:listen|observe|record)\w*|(?:just|only) (?:listening|observing)|observ(?:e|es|ing))\b/iu,
  ],
  [
    'copilot',
    /\b(?:co-?pilot\w*|assist(?:s|ing)? (?:me|us|the interviewer|a human|our)|help(?:s|ing)? (?:me|us|the interviewer)|alongside|suggest(?:s|ions)? (?:to|for) (?:me|us|the interviewer))/iu,
  ],
  [
    'solo',
    /\b(?:solo|autonom\w+|on its own|by itself|without (?:a |any )?(?:human|interviewer)|(?:ai|bot)[- ](?:led|run|only|runs|conducts|leads))\b/iu,
  ],
];

const address = /[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*\.\p{L}{2,24}/u;
const url = /https:\/\/[^\s<>"'“”]+[^\s<>"'“”.,;:!?)\]]/u;

const withoutAddresses = (text: string): string =>
  text.replaceAll(new RegExp(url, 'gu'), ' , ').replaceAll(new RegExp(address, 'gu'), ' , ');

const personal = String.raw`(\p{Lu}[\p{L}'’-]+(?:\s\p{Lu}[\p{L}'’-]+){1,2})`;
/** Patterns for the candidate's name: after words that announce a name, or before an email address. */
const named = [
  new RegExp(String.raw`\b(?:[Cc]andidate(?:’s|'s)?(?: name)?(?:\s+is|:)?|named|called)\s+${personal}`, 'u'),
  new RegExp(String.raw`${personal}\s*[,:]?\s*[(<]?\s*(?:at\s+)?${address.source}`, 'u'),
];

function nameIn(prompt: string): string | undefined {
  const name = named.map((pattern) => pattern.exec(prompt)?.[1]).find((found) => found !== undefined);
  if (name === undefined || skillsIn(name).length > 0 || name.split(' ').some(isProfession)) return undefined;
  return name;
}

export function draftWords(given: string): DraftWords {
  const prompt = given.slice(0, draftBounds.prompt);
  const text = withoutAddresses(prompt);
  const criteria = namesOf(listedIn(text, criterionCue)).map(capital);
  const taken = new Set(criteria.map((name) => name.toLowerCase()));
  const role = roleIn(prompt);
  const skills = namesOf([...skillsIn(text), ...listedIn(text, skillCue)]).filter(
    (name) => !taken.has(name.toLowerCase()),
  );
  const count = countPattern.exec(text)?.[1]?.toLowerCase();
  const questions = count === undefined ? undefined : (numbers[count] ?? Number(count));
  const mode = modeWords.find(([, pattern]) => pattern.test(text))?.[0];
  const meeting = url.exec(prompt)?.[0];
  const name = nameIn(prompt);
  const mail = address.exec(prompt.replaceAll(new RegExp(url, 'gu'), ' '))?.[0];
  return {
    ...defined({ role_title: role }),
    skills,
    evaluation_criteria: criteria,
    ...(questions === undefined
      ? {}
      : { question_count: Math.min(Math.max(questions, 1), interviewBounds.questions.max) }),
    ...defined({ mode, meeting_url: meeting, candidate_email: mail, candidate_name: name }),
  };
}

function listed(words: string): ReadonlySet<string> {
  return new Set(words.split(/\s+/u));
}
