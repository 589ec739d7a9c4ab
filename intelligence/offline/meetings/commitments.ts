/** Reads a commitment in one clause of an English transcript: who is to do something, and what. Pure. */
import {
  actionVerbs,
  already,
  atWork,
  beforeDeed,
  holdingBack,
  idleTalk,
  idleVerbs,
  pointing,
  undone,
} from './words.ts';
import { label, patternsFor, type Doer, type Form, type Pattern } from './patterns.ts';
import { listed } from '../../../models/rules/language/words/lists.ts';

export type Commitment = {
  form: Form;
  doer: Doer;
  /** The task as an imperative: `send the sheet`. */
  deed: string;
  /** Whether the task names no object: `do it`. */
  points: boolean;
  /** Whether the wording is so vague that the task counts only with a date or when a person accepts it. */
  weak: boolean;
};

/** `names`: all ways in which people may be called, the longest first. */
export function reader(names: readonly string[]): (clause: string) => Commitment | undefined {
  const known = patternsFor(names);
  return (clause) => {
    const text = clause.replaceAll('’', "'").replaceAll(/\s+/gu, ' ').trim();
    const body = text.replace(leadIn, '').replace(/(?<![\s.!])(?:\s*[.!])+$/u, '');
    if (already.test(body) || (supposed.test(body) && !askingIf.test(body))) return undefined;
    for (const pattern of known.patterns) {
      const match = pattern.at.exec(body);
      if (!match) continue;
      const read = commitmentOf(match, body, pattern, known);
      if (read) return read;
    }
    return undefined;
  };
}

const leadIn =
  /^(?:(?:and|so|ok|okay|sure|yes|yeah|yep|right|well|great|perfect|fine|thanks|thank you|alright|all right|got it|of course|absolutely|certainly|no problem|then|also|but|actually|now|good|hi|hello|hey|oh|ah|I guess|I think|by the way|(?:for|before|by|until) (?:the |our )?next (?:meeting|time|session))\b[,.!–-]*\s+)+/iu;
const supposed = /^(?:if|unless|had|imagine|suppose)\b/iu;
/** `If you could send it` alone is a request. When a main clause follows, the `if` begins a condition. */
const askingIf = /^if you (?:can|could)\b(?!.*,\s*(?:then|we|I|you|it|that|he|she|they)\b)/iu;

type Known = ReturnType<typeof patternsFor>;

function commitmentOf(
  match: RegExpExecArray,
  body: string,
  pattern: Pattern,
  { vocative }: Known,
): Commitment | undefined {
  const before = body.slice(0, match.index);
  if (pattern.at !== label && holdingBack.test(before)) return undefined;
  // A question is no promise. A question tag (`…, okay?`) does not make a sentence a question.
  const question = /\?\s*$/u.test(body) && !/,\s*(?:ok|okay|right|alright|all right|yes)\s*\?$/iu.test(body);
  if (question && !pattern.asks && pattern.doer(match) !== 'you') return undefined;
  let rest = match[2]!
    .trim()
    .replace(/^be (?:just|really|also|all) (?=\p{L}+ing\b)/iu, 'be ')
    .replace(/^be focused on\b/iu, 'focus on');
  if (undone.test(rest)) return undefined;
  if (!pattern.passive) while (beforeDeed.test(rest)) rest = rest.replace(beforeDeed, '');
  if (undone.test(rest)) return undefined;
  const { form } = pattern;
  let doer = pattern.doer(match);
  // A person who is addressed by name is the one to do the task: `Bob, can you`, `please send it, Bob`.
  const last = vocative.last.exec(rest);
  const first = vocative.first.exec(body);
  if (last && (doer === 'you' || doer === 'somebody')) doer = { named: last[1]! };
  else if (first && doer === 'you') doer = { named: first[1]! };
  if (last) rest = rest.replace(vocative.last, '');
  if (pattern.at === label) return labelled(rest, doer, vocative.owner);
  if (pattern.passive) return passive(match, rest, pattern);
  const weak = pattern.weak === true;
  if (pattern.named !== undefined) return { form, doer, deed: `${pattern.named} ${rest}`, points: false, weak };
  const continuing = /^(?:be )?(\p{L}+ing)\b/u.exec(rest);
  if (weak && /\b(?:am|'m)\s+$/u.test(match[0].slice(0, match[0].length - match[2]!.length)) && !continuing)
    return undefined;
  const deed = rest
    .replace(/^be (?=\p{L}+ing\b)/u, '')
    .replace(/^have (?=(?:it|them|this|that)\b(?! (?:ready|done|finished|signed|fixed|sent)))/iu, 'provide ')
    .replace(/^\p{L}+ing\b/u, (verb) => baseOf(verb))
    .replace(/^\p{L}+/u, (verb) => (pattern.present === true ? ownForm(verb) : verb))
    .replace(aside, '');
  const verb = (/^[\p{L}-]+/u.exec(deed)?.[0] ?? '').toLowerCase();
  // `You will be thinking about the price` assigns a subject to work on.
  const subject = /^be (?:\p{L}+ly )?\p{L}+ing (?:on|about|at|into|with)\b/u.test(rest) && form === 'assignment';
  if (!subject && !isWork(deed, verb, pattern)) return undefined;
  return { form, doer, deed, points: pointing.test(deed), weak: weak && !subject };
}

/** A remark in the same sentence that is not part of the task: `, that's quick`. */
const aside =
  /,\s*(?:\p{Lu}\p{L}+ (?:has|is)\b|that(?:'s| is| will| can| can't| cannot)|it(?:'s| is| will)|this is|I guess|I think|I hope|by the way|haha|if that|if you|ok(?:ay)?\b|right\b|so (?:that )?(?:we|you|I)\b|because\b|since\b|then (?:we|you|I)\b).*$/iu;

/** Whether a task is work to be done after the meeting. */
function isWork(deed: string, verb: string, { strict }: Pattern): boolean {
  if (verb === '' || idleTalk.test(deed)) return false;
  if (atWork.test(deed)) return true;
  const base = baseOf(verb);
  if (idleVerbs.has(verb) || idleVerbs.has(base)) return false;
  // A verb without an object is no task: `I will try`.
  if (!/\s/u.test(deed.replace(/[.!?]+$/u, ''))) return false;
  return !strict || actionVerbs.has(verb) || actionVerbs.has(base);
}

/**
 * The base form of a verb that ends with `ing`: `check` for `checking`. The form is looked up in the verb lists,
 * because the spelling alone is ambiguous.
 */
function baseOf(verb: string): string {
  if (!verb.endsWith('ing')) return verb;
  const stem = verb.slice(0, -3);
  const forms = [stem, `${stem}e`, stem.replace(/(.)\1$/u, '$1')];
  return forms.find((form) => actionVerbs.has(form) || idleVerbs.has(form)) ?? verb;
}

/** A task after a label: `Bob updates the guide`, `Bob: update the guide`, `update the guide`. */
function labelled(rest: string, doer: Doer, owner: RegExp): Commitment | undefined {
  const named = owner.exec(rest);
  const said = named ? named[2]! : rest;
  const deed = said.replace(/^\p{L}+/u, (verb) => ownForm(verb));
  if (!/\p{L}{2}/u.test(deed)) return undefined;
  return { form: 'label', doer: named ? { named: named[1]! } : doer, deed, points: false, weak: false };
}

/** The base form of a verb in the third person: `update` for `updates`. */
function ownForm(verb: string): string {
  const low = verb.toLowerCase();
  const forms = [low.replace(/ies$/u, 'y'), low.replace(/es$/u, ''), low.replace(/s$/u, '')];
  return forms.find((form) => form !== low && actionVerbs.has(form)) ?? verb;
}

const participle = /(?:ed|en|wn|nt|lt|ld|pt|de|id|ut|un|et|ne|st)$/u;
const noWork = new Set(
  listed(`said noted seen known understood mentioned admitted remembered done honest patient excited
  interested worried convinced present different concerned scared tired open fine quiet allowed`),
);

/** Turns `The page has to be updated by Friday` into the imperative `update the page by Friday`. */
function passive(match: RegExpExecArray, rest: string, pattern: Pattern): Commitment | undefined {
  const word = match[3]!.toLowerCase();
  const base = baseOf(word) === word ? activeOf(word) : baseOf(word);
  if (!(participle.test(word) || actionVerbs.has(base ?? '')) || noWork.has(word)) return undefined;
  if (/^(?:we|I|you|he|she|they|nothing|nobody|everyone|everybody|people|there)\b/iu.test(rest)) return undefined;
  const parts =
    /^(.+?)\s+(?:still |also |really )*(?:needs?|requires?|has|have|must|should)\s+(?:to )?(?:be )?(?:\w+ly )?\w+(.*)$/iu.exec(
      rest,
    );
  const subject = parts?.[1]?.replace(/^(?:The|This|That|These|Those|It|A|An|My|Our|Your|Their|His|Her)\b/u, (first) =>
    first.toLowerCase(),
  );
  const deed = base === undefined || subject === undefined ? rest : `${base} ${subject}${parts![2]!}`;
  return { form: 'need', doer: 'somebody', deed, points: false, weak: pattern.weak === true };
}

const irregular = new Map(
  `bought buy, brought bring, built build, chosen choose, found find, given give, made make, paid pay, sent send,
  sold sell, taken take, taught teach, told tell, written write, rewritten rewrite`
    .split(/,\s+/u)
    .map((pair) => pair.split(' ') as [participle: string, base: string]),
);

/** The base form of a participle: `update` for `updated`. Undefined for an unknown verb. */
function activeOf(word: string): string | undefined {
  const forms = [
    word,
    word.replace(/d$/u, ''),
    word.replace(/ed$/u, ''),
    word.replace(/(.)\1ed$/u, '$1'),
    word.replace(/ied$/u, 'y'),
  ];
  return irregular.get(word) ?? forms.find((form) => actionVerbs.has(form));
}
