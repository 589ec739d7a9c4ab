/**
 * What somebody commits to in one clause of a transcript: who is to do it, and what. English. Pure; it knows only the clause,
 * extraction.ts knows the meeting.
 */
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
} from './commitwords.ts';

/** `you`: whoever is addressed; `somebody`: whoever takes it on; `everybody`: no single one. */
export type Doer = 'speaker' | 'you' | 'somebody' | 'everybody' | { named: string };
export type Commitment = {
  doer: Doer;
  /** What is to be done, as an order: `send the sheet`. */
  deed: string;
  /** The deed names nothing: `do it`. */
  points: boolean;
  /** Said so loosely that it counts only with a date. */
  weak: boolean;
};

type Pattern = {
  at: RegExp;
  doer: (match: RegExpExecArray) => Doer;
  weak?: true;
  /** Only verbs of work count. */
  strict?: true;
  /** The deed is the whole clause, which is a passive one. */
  passive?: true;
  /** Said as a question. */
  asks?: true;
};

/** `names`: how those are called who may be meant, the longest first. */
export function reader(names: readonly string[]): (clause: string) => Commitment | undefined {
  const known = patternsFor(names);
  return (clause) => {
    const text = clause.replaceAll('’', "'").replaceAll(/\s+/gu, ' ').trim();
    const body = text.replace(leadIn, '');
    if (already.test(body) || /^(?:if|unless|had|imagine|suppose)\b/iu.test(body)) return undefined;
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
  /^(?:(?:and|so|ok|okay|sure|yes|yeah|right|well|great|perfect|fine|thanks|thank you|alright|all right|got it|of course|absolutely|certainly|no problem|then|also|but|actually|now|good|hi|hello|hey|I guess|I think|by the way)\b[,.!–-]*\s+)+/iu;
const label =
  /^(?:action items?|actions?|to-?dos?|next steps?|tasks?|follow-?ups?|(?:high|top|low|highest) priority|urgent|important)(?:\s+(?:for|is for|is|are))?\s*([\p{Lu}][^:–]{0,60}?)?\s*(?:[:–]|\bis to\b)\s*(.+)$/iu;
const address = String.raw`[^\s<>()[\],;:"']+@[^\s<>()[\],;:"']+\.\p{L}{2,}`;
const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/gu, String.raw`\$&`);
const polite = String.raw`(?:\s+(?:please|kindly|maybe|perhaps|also|just|then|quickly))*`;
const ownNeed = String.raw`(?:still |also |really |just )*(?:need to|have to|must|gotta|'ve got to|have got to|'ve to|shall|'ll|will|am going to|'m going to|'m gonna|am gonna|promise to|promise I will)`;
const theirNeed = String.raw`(?:'ll|will|shall|is going to|'s going to|needs to|has to|must|should|agreed to|promised to|offered to|volunteered to|is responsible for|is in charge of|is supposed to|takes care of|owns|will need to|is to)`;

function patternsFor(names: readonly string[]) {
  const who = `(${[...names.map(escaped), address].join('|')})`;
  const is = (source: string, flags = 'iu'): RegExp => new RegExp(source, flags);
  // Names count as they are written: `will` is no Will.
  const named = (source: string): RegExp => new RegExp(source, 'u');
  const called = (match: RegExpExecArray): Doer => ({ named: match[1]! });
  const speaker = (): Doer => 'speaker';
  const you = (): Doer => 'you';
  const somebody = (): Doer => 'somebody';
  const everybody = (): Doer => 'everybody';
  const patterns: Pattern[] = [
    { at: label, doer: (match) => (match[1] ? { named: match[1] } : 'somebody') },
    {
      at: named(
        String.raw`\b(?:I want|I need|I'd like|I would like|we want|we need|I asked|I'll ask|let's have|let's ask)\s+${who} to\s+(.+)$`,
      ),
      doer: called,
    },
    { at: named(String.raw`(?:^|[\s,;])${who}(?:,? please)?\s*(?:\b|(?='))${theirNeed}\s+(.+)$`), doer: called },
    { at: named(String.raw`^${who}(?: and \S+)? to\s+(.+)$`), doer: called, strict: true },
    { at: named(String.raw`(?:^|[\s,;])${who} can\s+(.+)$`), doer: called, weak: true },
    {
      at: is(
        String.raw`\b(?:it would be (?:great|nice|good|helpful|lovely|perfect)|I(?:'d| would) (?:appreciate|love) it) if you (?:could |would |can )?()(.+)$`,
      ),
      doer: you,
    },
    { at: is(String.raw`^(?:.*,\s*)?(?:please )?(?:don't forget|do not forget|remember) to\s+()(.+)$`), doer: you },
    { at: is(String.raw`^(?:.*,\s*)?(?:please )?remind me to\s+()(.+)$`), doer: speaker },
    {
      at: is(
        String.raw`\byour (?:next step|action|action item|task|job|part|homework) (?:is|will be|would be) to\s+()(.+)$`,
      ),
      doer: you,
    },
    {
      at: is(
        String.raw`\bmy (?:next step|action|action item|task|job|part|homework) (?:is|will be|would be) to\s+()(.+)$`,
      ),
      doer: speaker,
    },
    {
      at: is(String.raw`\bI\s*(?:'m|am|'d be|'ll be|will be) (?:happy|glad|ready|willing) to\s+()(.+)$`),
      doer: speaker,
      strict: true,
    },
    { at: is(String.raw`\b(?:would|do) you mind\s+()(.+)$`), doer: you, asks: true },
    { at: is(String.raw`\b(?:can|could|would|will) you${polite}\s+()(.+)$`), doer: you, asks: true },
    { at: is(String.raw`\b(?:I'd like|I would like|I want|I need) you (?:both |all |guys )?to\s+()(.+)$`), doer: you },
    { at: is(String.raw`\byou(?:'ll| will)?\s+(?:need to|have to|must|should|'ve got to)\s+()(.+)$`), doer: you },
    { at: is(String.raw`\bI\s*${ownNeed}\s+()(.+)$`), doer: speaker },
    {
      at: is(
        String.raw`\bI\s*(?:can|could|should|plan to|intend to|aim to|want to|'d like to|would like to|am planning to|'m planning to|'m about to|'d better|am|'m)\s+()(.+)$`,
      ),
      doer: speaker,
      weak: true,
    },
    { at: is(String.raw`\b(?:let me)\s+()(.+)$`), doer: speaker, weak: true },
    {
      at: is(
        String.raw`\b(?:someone|somebody|one of us|anyone)\s+(?:(?:needs|has) to|should|must|please|will)\s+()(.+)$`,
      ),
      doer: somebody,
    },
    {
      at: is(
        String.raw`\b(?:everyone|everybody|all of (?:us|you)|the (?:whole )?team|each of (?:us|you))\s+(?:(?:needs|has|have|need) to|should|must|please|will)\s+()(.+)$`,
      ),
      doer: everybody,
      strict: true,
    },
    {
      at: is(
        String.raw`\bwe\s*(?:(?:still |also |really )*(?:need to|have to|must|'ve got to|gotta)|'ll|will|are going to|'re going to|agreed to)\s+()(.+)$`,
      ),
      doer: somebody,
      strict: true,
    },
    { at: is(String.raw`\blet's\s+()(.+)$`), doer: somebody, strict: true },
    { at: is(String.raw`\bwe\s*(?:should|can|could)\s+()(.+)$`), doer: somebody, strict: true, weak: true },
    { at: is(String.raw`(?:^|,\s*)please\s+()(.+)$`), doer: you, strict: true },
    { at: is(String.raw`^()([a-z][\w-]*\s.+),?\s+please[.!]?$`), doer: you, strict: true },
    {
      at: is(String.raw`^()((?:.+\s)(?:needs?|requires?)\s+(?!to\b)(?:\w+ly\s+)?(\w+ing)(?:\s.*)?)$`),
      doer: somebody,
      passive: true,
    },
    {
      at: is(String.raw`^()((?:.+\s)?(?:needs?|has|have) to be\s+(?:\w+ly\s+)?(\w+)(?:\s.*)?)$`),
      doer: somebody,
      passive: true,
    },
    { at: is(String.raw`^()((?:.+\s)?must be\s+(?:\w+ly\s+)?(\w+)(?:\s.*)?)$`), doer: somebody, passive: true },
    {
      at: is(String.raw`^()((?:.+\s)?should be\s+(?:\w+ly\s+)?(\w+)(?:\s.*)?)$`),
      doer: somebody,
      passive: true,
      weak: true,
    },
    { at: named(String.raw`^${who},\s+((?:please |and |also |then )?[a-z].+)$`), doer: called, strict: true },
    {
      at: named(
        String.raw`^(?!(?:The|This|That|These|Those|It|He|She|They|There|What|Who|Which|Where|When|Why|How|If|I|We|You|Nobody|No|Nothing|Everything|Something|People|Someone|Everyone|One|Our|My|Your|His|Her|Their|And|But|So)\b)(\p{Lu}[\p{L}'-]+(?: \p{Lu}[\p{L}'-]+)?)(?: (?:from|at|in|of) [\p{L} ]{2,30}?)? (?:will|is going to|needs to|has to)\s+(.+)$`,
      ),
      doer: called,
      strict: true,
      weak: true,
    },
    { at: is(String.raw`^()(make sure\s.+)$`), doer: you, strict: true },
  ];
  const vocative = {
    /** After a label. */
    owner: named(String.raw`^${who}(?:\s*[:,–-]| to| will| should| needs to|'ll)?\s+(.+)$`),
    first: named(String.raw`^(?:@?${who})(?:,| -| –|:)\s+`),
    last: named(String.raw`,\s*@?${who}[.?!]*$`),
  };
  return { patterns, vocative };
}

type Known = ReturnType<typeof patternsFor>;

function commitmentOf(
  match: RegExpExecArray,
  body: string,
  pattern: Pattern,
  { vocative }: Known,
): Commitment | undefined {
  const before = body.slice(0, match.index);
  if (pattern.at !== label && holdingBack.test(before)) return undefined;
  // What is asked is no promise; a tag is no question.
  const question = /\?\s*$/u.test(body) && !/,\s*(?:ok|okay|right|alright|all right|yes)\s*\?$/iu.test(body);
  if (question && !pattern.asks && pattern.doer(match) !== 'you') return undefined;
  let rest = match[2]!.trim();
  if (undone.test(rest)) return undefined;
  if (!pattern.passive) while (beforeDeed.test(rest)) rest = rest.replace(beforeDeed, '');
  if (undone.test(rest)) return undefined;
  let doer = pattern.doer(match);
  // Whoever is called by name is asked: `Bob, can you`, `please send it, Bob`.
  const last = vocative.last.exec(rest);
  const first = vocative.first.exec(body);
  if (last && (doer === 'you' || doer === 'somebody')) doer = { named: last[1]! };
  else if (first && doer === 'you') doer = { named: first[1]! };
  if (last) rest = rest.replace(vocative.last, '');
  if (pattern.at === label) return labelled(rest, doer, vocative.owner);
  if (pattern.passive) return passive(match, rest, pattern);
  const continuing = /^(?:be )?(\p{L}+ing)\b/u.exec(rest);
  if (pattern.weak && /\b(?:am|'m)\s+$/u.test(match[0].slice(0, match[0].length - match[2]!.length)) && !continuing)
    return undefined;
  const deed = rest
    .replace(/^be (?=\p{L}+ing\b)/u, '')
    .replace(/^\p{L}+ing\b/u, (verb) => baseOf(verb))
    .replace(aside, '');
  const verb = (/^[\p{L}-]+/u.exec(deed)?.[0] ?? '').toLowerCase();
  if (!isWork(deed, verb, pattern)) return undefined;
  return { doer, deed, points: pointing.test(deed), weak: pattern.weak === true };
}

/** What is only said beside it: `, that's quick`. */
const aside =
  /,\s*(?:that(?:'s| is| will)|it(?:'s| is| will)|this is|I guess|I think|I hope|by the way|haha|if that|if you|ok(?:ay)?\b|right\b|so (?:that )?(?:we|you|I)\b|because\b|since\b|then (?:we|you|I)\b).*$/iu;

/** Whether a deed is something that is left to be done after the meeting. */
function isWork(deed: string, verb: string, { strict }: Pattern): boolean {
  if (verb === '' || idleTalk.test(deed)) return false;
  if (atWork.test(deed)) return true;
  const base = baseOf(verb);
  if (idleVerbs.has(verb) || idleVerbs.has(base)) return false;
  // A verb alone says nothing: `I will try`.
  if (!/\s/u.test(deed.replace(/[.!?]+$/u, ''))) return false;
  return !strict || actionVerbs.has(verb) || actionVerbs.has(base);
}

/** `checking` is of `check`: by the list of verbs, for the spelling tells too little. */
function baseOf(verb: string): string {
  if (!verb.endsWith('ing')) return verb;
  const stem = verb.slice(0, -3);
  const forms = [stem, `${stem}e`, stem.replace(/(.)\1$/u, '$1')];
  return forms.find((form) => actionVerbs.has(form) || idleVerbs.has(form)) ?? verb;
}

/** After a label: `Bob updates the guide`, `Bob: update the guide`, `update the guide`. */
function labelled(rest: string, doer: Doer, owner: RegExp): Commitment | undefined {
  const named = owner.exec(rest);
  const said = named ? named[2]! : rest;
  const deed = said.replace(/^\p{L}+/u, (verb) => ownForm(verb));
  if (!/\p{L}{2}/u.test(deed)) return undefined;
  return { doer: named ? { named: named[1]! } : doer, deed, points: false, weak: false };
}

/** `updates` is of `update`. */
function ownForm(verb: string): string {
  const low = verb.toLowerCase();
  const forms = [low.replace(/ies$/u, 'y'), low.replace(/es$/u, ''), low.replace(/s$/u, '')];
  return forms.find((form) => form !== low && actionVerbs.has(form)) ?? verb;
}

const participle = /(?:ed|en|wn|nt|lt|ld|pt|de|id|ut|un|et|ne|st)$/u;
const noWork = new Set([
  'said',
  'noted',
  'seen',
  'known',
  'understood',
  'mentioned',
  'admitted',
  'remembered',
  'done',
  'honest',
  'patient',
  'excited',
  'interested',
  'worried',
  'convinced',
  'present',
  'different',
  'concerned',
  'scared',
  'tired',
  'open',
  'fine',
  'quiet',
  'allowed',
]);

function passive(match: RegExpExecArray, rest: string, pattern: Pattern): Commitment | undefined {
  const word = match[3]!.toLowerCase();
  if (!(participle.test(word) || actionVerbs.has(baseOf(word))) || noWork.has(word)) return undefined;
  // What it is said of must be named: `that needs to be paid` names nothing.
  if (
    /^(?:that|this|it|these|those|they|we|I|you|he|she|nothing|nobody|everyone|everybody|people|there)\b/iu.test(rest)
  )
    return undefined;
  return { doer: 'somebody', deed: rest, points: false, weak: pattern.weak === true };
}
