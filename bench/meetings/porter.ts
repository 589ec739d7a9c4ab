/** Word stems for comparing texts in bench/meetings.ts: the Porter stemmer (Porter 1980), for English. */

const vowelAt = (word: string, at: number): boolean =>
  /[aeiou]/u.test(word[at]!) || (word[at] === 'y' && at > 0 && !vowelAt(word, at - 1));
const shapeOf = (word: string): string => Array.from(word, (_, at) => (vowelAt(word, at) ? 'v' : 'c')).join('');
/** Porter's measure of a word: how often vowels are followed by consonants. */
const measure = (word: string): number => shapeOf(word).match(/v+c+/gu)?.length ?? 0;
const hasVowel = (word: string): boolean => shapeOf(word).includes('v');
const isDoubled = (word: string): boolean => /([^aeiou])\1$/u.test(word);
const endsShort = (word: string): boolean => shapeOf(word).endsWith('cvc') && !/[wxy]$/u.test(word);

const second: readonly (readonly [string, string])[] = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['abli', 'able'],
  ['alli', 'al'],
  ['entli', 'ent'],
  ['eli', 'e'],
  ['ousli', 'ous'],
  ['ization', 'ize'],
  ['ation', 'ate'],
  ['ator', 'ate'],
  ['alism', 'al'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['biliti', 'ble'],
];
const third: readonly (readonly [string, string])[] = [
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ful', ''],
  ['ness', ''],
];
const fourth = 'al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize'
  .split(' ')
  .toSorted((a, b) => b.length - a.length);

function replaced(word: string, endings: readonly (readonly [string, string])[]): string {
  const found = endings.toSorted(([a], [b]) => b.length - a.length).find(([ending]) => word.endsWith(ending));
  if (!found) return word;
  const base = word.slice(0, -found[0].length);
  return measure(base) > 0 ? base + found[1] : word;
}

function withoutTense(word: string): string {
  if (word.endsWith('eed')) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word;
  const base = /^(.+?)(?:ed|ing)$/u.exec(word)?.[1];
  if (base === undefined || !hasVowel(base)) return word;
  if (/(?:at|bl|iz)$/u.test(base)) return `${base}e`;
  if (isDoubled(base) && !/[lsz]$/u.test(base)) return base.slice(0, -1);
  return measure(base) === 1 && endsShort(base) ? `${base}e` : base;
}

function withoutSuffix(word: string): string {
  const ending = fourth.find((one) => word.endsWith(one));
  if (ending === undefined) return word;
  const base = word.slice(0, -ending.length);
  if (measure(base) <= 1 || (ending === 'ion' && !/[st]$/u.test(base))) return word;
  return base;
}

/** The stem of a word in lower case. */
export function porter(word: string): string {
  if (word.length < 3) return word;
  let out = word
    .replace(/sses$/u, 'ss')
    .replace(/ies$/u, 'i')
    .replace(/([^s])s$/u, '$1');
  out = withoutTense(out);
  if (out.endsWith('y') && hasVowel(out.slice(0, -1))) out = `${out.slice(0, -1)}i`;
  out = withoutSuffix(replaced(replaced(out, second), third));
  if (out.endsWith('e')) {
    const base = out.slice(0, -1);
    if (measure(base) > 1 || (measure(base) === 1 && !endsShort(base))) out = base;
  }
  return measure(out) > 1 && out.endsWith('ll') ? out.slice(0, -1) : out;
}

export const stemsOf = (text: string): string[] =>
  (
    text
      .toLowerCase()
      .replaceAll('’', "'")
      .match(/[\p{L}\p{N}]+/gu) ?? []
  ).map(porter);

const stopWords = new Set(
  `a about after again all also am an and any are as at be because been before being but by can could did do does doing down
  each for from further had has have having he her here hers him his how i if in into is it its just me more most my no nor not
  now of off on once only or other our ours out over own s same she should so some such t than that the their theirs them then
  there these they this those through to too under until up us very was we were what when where which while who whom why will
  with would you your yours ll re ve d m`.split(/\s+/u),
);
/** Words that are left out, because nearly every labelled action of the real meetings contains them. */
const empty = new Set('remote control work team member project meeting next'.split(' ').map(porter));

export const contentStems = (text: string): Set<string> =>
  new Set(
    (
      text
        .toLowerCase()
        .replaceAll('’', "'")
        .match(/[\p{L}\p{N}]+/gu) ?? []
    )
      .filter((word) => !stopWords.has(word))
      .map(porter)
      .filter((word) => !empty.has(word)),
  );
