/** Resolves English pronouns to things that were named before. Pure. */
import { actionVerbs } from './words.ts';
import { terms } from '../../../models/rules/language/words.ts';

/** A thing that was named, such as `the old opening hours page`. */
export type Thing = {
  text: string;
  /** The last noun of the thing, which says what it is. */
  head: string;
  plural: boolean;
  /** Whether the sentence announces the thing as the next subject: `Next, the survey.` */
  announced: boolean;
  /** Whether the thing follows a preposition: `to the printer`. */
  aside: boolean;
};

const determiner = String.raw`the|a|an|no|my|our|your|their|his|her|its|this|that|these|those|both|some|any|(?!that|it|what|there|here|he|she|let|who)\p{L}+['’]s`;
const word = String.raw`[\p{L}\p{N}][\p{L}\p{N}'’&/-]*`;
const named = new RegExp(String.raw`(?<![\p{L}'’])(${determiner}|\p{N}+)\s+((?:${word}\s+){0,4}${word})`, 'giu');
/** Words that end the name of a thing, because they are neither nouns nor adjectives of it. */
const ending =
  /^(?:is|are|was|were|be|been|being|am|will|would|can|could|should|shall|may|might|must|has|have|had|do|does|did|don't|doesn't|isn't|aren't|wasn't|goes|go|went|gone|come|comes|came|get|gets|got|say|says|said|make|makes|made|tell|tells|told|need|needs|want|wants|still|already|again|also|just|only|really|never|always|now|then|today|tomorrow|yesterday|tonight|soon|later|here|there|and|or|but|so|because|since|when|while|once|if|that|which|who|whom|where|why|how|what|than|as|at|by|for|from|in|into|of|off|on|onto|out|over|to|up|with|without|before|after|until|till|about|around|under|between|through|during|like|nobody|somebody|someone|everyone|everybody|anybody|we|I|you|he|she|it|they|me|us|him|them|not|n't|please|though|too|yet|whole|way|a|an|the|my|our|your|their|his|gonna|wanna|gotta|kinda|ever|even|heard|seen|said|\p{L}+['’](?:s|ll|re|ve|d|t)|\p{L}{3,}ly|expired|happened|works?|looks?|ends?|begins?|starts?|wrote|started|ended|stays?|launched|changed|moved|fixed|renewed)$/iu;
const notThings =
  /^(?:one|ones|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fourteen|fifteen|twenty|thirty|sixty|hundred|percent|\p{N}+|\p{L}*(?:first|second|third|[^l]th|[ts]ieth)|january|february|march|april|june|july|august|september|october|november|december|christmas|time|moment|minute|minutes|second|seconds|day|days|week|weeks|month|months|year|years|hour|hours|thing|things|way|bit|lot|rest|end|beginning|morning|afternoon|evening|people|person|others?|other|idea|question|problem|point|same|first|last|next|half|one of|couple|kind|sort|fault|mistake|pleasure|turn|meeting|call|monday|tuesday|wednesday|thursday|friday|saturday|sunday)$/iu;
const announcing =
  /^(?:next|last(?: thing)?|first|second|third|then|also|okay|so|and|now|finally|one more thing|what about|how about|let's talk about|about|on to|moving on to)\b[^.!?]{0,60}[.!?]?$/iu;
/** The part after a noun that distinguishes the thing: `a template for outages`. */
const tail = new RegExp(
  String.raw`^\s+((?:of|for|on|about)\s+(?:(?:the|a|an|our|my|your|their)\s+)?)(${word})(?:\s+(${word}))?`,
  'iu',
);

/**
 * The prepositional phrase that belongs to a thing, with the blank before it; one or two words follow its preposition.
 */
function tailOf(text: string): string {
  const [, joint, first, second] = tail.exec(text) ?? [];
  const isNoun = (one: string | undefined): one is string =>
    one !== undefined && !ending.test(one) && !notThings.test(one) && !(one.endsWith('s') && isVerb(one));
  if (joint === undefined || first === undefined || ending.test(first)) return '';
  // In `the heating of the former years`, the words `of the former years` state a time, so the thing is `the heating`.
  if (second !== undefined && notThings.test(second)) return '';
  if (isNoun(second)) return ` ${joint}${first} ${second}`;
  return notThings.test(first) ? '' : ` ${joint}${first}`;
}

/** The things that a sentence names, in order. */
export function thingsIn(sentence: string): Thing[] {
  const announced = announcing.test(sentence);
  const found: Thing[] = [];
  const text = sentence.replaceAll('’', "'");
  for (const quoted of text.matchAll(/["“]([^"“”]{3,60})["”]/gu))
    found.push({
      text: `“${quoted[1]!}”`,
      head: quoted[1]!.split(/\s+/u).at(-1)!.toLowerCase(),
      plural: false,
      announced,
      aside: false,
    });
  named.lastIndex = 0;
  for (let match = named.exec(text); match; match = named.exec(text)) {
    const first = match[1]!;
    const words: string[] = [];
    let end = match.index + first.length;
    const said = match[2]!;
    const isLast = ({ index }: RegExpExecArray): boolean => !/\s/u.test(said.slice(index));
    for (const next of said.matchAll(/\S+/gu)) {
      const bare = next[0];
      if (ending.test(bare) || (words.length > 0 && !isLast(next) && acts.test(first) && isVerb(bare))) break;
      words.push(bare);
      end = match.index + match[0].length - said.length + next.index + bare.length;
    }
    // A thing inside another, as in `no alert on the age`, is found too.
    named.lastIndex = Math.max(match.index + first.length, end);
    const head = words.at(-1)?.toLowerCase();
    if (head === undefined || notThings.test(head) || !/\p{L}{2}/u.test(head)) continue;
    const plural =
      /(?:[^su]s|people|children|team|staff|group|agency|company|department|board|committee)$/u.test(head) ||
      (/^\p{N}+$/u.test(first) && first !== '1');
    found.push({
      text: `${articleOf(first, plural)}${words.join(' ')}${tailOf(text.slice(end))}`,
      head,
      plural,
      announced,
      aside: preposition.test(text.slice(0, match.index)),
    });
  }
  return found;
}

/** The article for a later mention: `a page` becomes `the page`. */
function articleOf(first: string, plural: boolean): string {
  if (/^(?:their|his|her|its|\p{Lu}\p{L}+'s)$/u.test(first)) return `${first} `;
  if (/^\p{N}+$/u.test(first)) return `the ${first} `;
  return plural || first !== '' ? 'the ' : '';
}

/** Determiners of a single thing. After its noun, a word that ends in `s` is a verb, not a plural noun. */
const acts = /^(?:the|a|an|this|that|my|our|your|its)$/iu;
const isVerb = (word: string): boolean => word.endsWith('s') && actionVerbs.has(word.toLowerCase().slice(0, -1));

const preposition = /\b(?:to|on|in|at|with|from|by|before|after|for|into|onto|under|over|behind|of)\s+$/iu;

/** A pronoun refers back at most this many sentences. */
const reach = 8;

/**
 * The thing that `it` or, if `plural`, `them` refers to. `before`: the preceding sentences, oldest first. Undefined
 * when they name no thing.
 */
export function meant(before: readonly string[], plural: boolean): Thing | undefined {
  // Sentences that name nothing are skipped, because they continue the previous subject.
  const things = before
    .map((sentence) => thingsIn(sentence))
    .filter((found) => found.length > 0)
    .slice(-reach)
    .toReversed()
    .flatMap((found, back) => found.map((thing, at) => ({ thing, back, at })));
  let best: { thing: Thing; worth: number } | undefined;
  for (const { thing, back, at } of things) {
    const repeated = things.some((other) => other.back > back && other.thing.head === thing.head);
    let worth = -back - at * 0.2;
    if (thing.plural === plural) worth += 1.6;
    if (thing.announced) worth += 2.5;
    else if (thing.aside) worth -= 1.3;
    if (repeated) worth += 0.6;
    if (!best || worth > best.worth) best = { thing, worth };
  }
  if (!best) return undefined;
  // An earlier mention of the same thing may have a fuller name.
  const { head, text } = best.thing;
  const full = things.map(({ thing }) => thing).filter((thing) => thing.head === head && !thing.text.startsWith('“'));
  const longest = full.toSorted((a, b) => b.text.length - a.text.length)[0];
  return longest && longest.text.length > text.length ? longest : best.thing;
}

/**
 * The subject of the sentences `before` a task, if `title` does not name it already. The subject is a thing that was
 * announced, is named repeatedly, or was just named by the same speaker (`own`). Undefined when there is none.
 */
export function subjectOf(before: readonly string[], own: readonly string[], title: string): string | undefined {
  const known = new Set(terms(title).map(({ stem }) => stem));
  const things = before
    .map((sentence) => thingsIn(sentence))
    .filter((found) => found.length > 0)
    .slice(-5)
    .toReversed()
    .flatMap((found, back) => found.map((thing) => ({ thing, back })));
  let best: { text: string; worth: number } | undefined;
  for (const { thing, back } of things) {
    const stems = terms(thing.text).map(({ stem }) => stem);
    const fresh = stems.filter((stem) => !known.has(stem)).length;
    const isSubject =
      thing.announced ||
      things.some((other) => other.thing !== thing && other.thing.head === thing.head) ||
      own.some((sentence) => sentence.toLowerCase().includes(thing.head));
    if (fresh === 0 || !isSubject) continue;
    const worth = Math.min(fresh, 3) * 0.7 - back * 0.8 + (thing.announced ? 1.5 : 0);
    if (!best || worth >= best.worth) best = { text: thing.text, worth };
  }
  return best?.text;
}
