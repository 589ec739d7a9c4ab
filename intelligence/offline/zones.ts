/**
 * Finds time zones that are named in English text next to a time: `10:30 Berlin time`, `3pm in New York`, `9:00
 * Europe/Paris`. Offsets and abbreviations (`UTC+2`, `CET`) are parsed with the time itself (dates.ts).
 */

/** `from`, `to`: the position in the text. `zone`: an IANA name; null for an unknown place. */
export type NamedZone = { zone: string | null; from: number; to: number };

/** Further names of each zone, besides the city in its IANA name: single words, then phrases, each after a `|`. */
const places: Readonly<Record<string, string>> = {
  'Europe/Berlin': 'german germany munich hamburg frankfurt cologne stuttgart dusseldorf leipzig',
  'Europe/London': 'uk british england english scottish manchester edinburgh birmingham',
  'Europe/Dublin': 'irish ireland',
  'Europe/Paris': 'french france lyon marseille toulouse',
  'Europe/Madrid': 'spanish spain barcelona valencia',
  'Europe/Rome': 'italian italy milan turin naples',
  'Europe/Zurich': 'swiss switzerland geneva basel',
  'Europe/Vienna': 'austrian austria',
  'Europe/Amsterdam': 'dutch netherlands rotterdam',
  'Europe/Brussels': 'belgian belgium',
  'Europe/Warsaw': 'polish poland krakow',
  'Europe/Stockholm': 'swedish sweden',
  'Europe/Copenhagen': 'danish denmark',
  'Europe/Oslo': 'norwegian norway',
  'Europe/Helsinki': 'finnish finland',
  'Europe/Lisbon': 'portuguese portugal porto',
  'Europe/Athens': 'greek greece',
  'Europe/Kyiv': 'ukrainian ukraine',
  'Asia/Jerusalem': 'israel israeli|tel aviv',
  'Asia/Kolkata': 'indian india mumbai delhi bangalore bengaluru hyderabad chennai pune|new delhi',
  'Asia/Shanghai': 'chinese china beijing shenzhen',
  'Asia/Tokyo': 'japanese japan osaka',
  'Asia/Seoul': 'korean korea',
  'Asia/Ho_Chi_Minh': 'vietnam hanoi|ho chi minh',
  'Asia/Dubai': '|abu dhabi',
  'America/New_York':
    'eastern boston philadelphia washington atlanta miami|us eastern|us east coast|east coast|washington dc',
  'America/Chicago': 'central dallas houston austin|us central',
  'America/Denver': 'mountain|us mountain|salt lake city',
  'America/Los_Angeles':
    'pacific seattle portland|us pacific|us west coast|west coast|san francisco|san diego|silicon valley',
  'America/Sao_Paulo': 'brazilian brasilia|rio de janeiro',
  'America/Toronto': 'montreal ottawa',
  'Australia/Sydney': 'canberra',
  'Pacific/Auckland': 'wellington|new zealand',
};

const zoneOf = new Map<string, string>([
  ...Intl.supportedValuesOf('timeZone').map((zone) => [cityOf(zone), zone] as const),
  ...Object.entries(places).flatMap(([zone, names]) => {
    const [words = '', ...phrases] = names.split('|');
    return [...words.split(' '), ...phrases].filter((name) => name !== '').map((name) => [name, zone] as const);
  }),
]);

function cityOf(zone: string): string {
  return plain(zone.slice(zone.lastIndexOf('/') + 1).replaceAll('_', ' '));
}
/** The name in lower case, without diacritics and full stops: `Zürich`, `St. Johns`. */
function plain(name: string): string {
  return name
    .normalize('NFD')
    .replaceAll(/[\p{M}.]/gu, '')
    .toLowerCase();
}

const name = String.raw`\p{L}[\p{L}.’'-]*`;
const iana = /\(?\b((?:Africa|America|Asia|Atlantic|Australia|Europe|Indian|Pacific)\/[\w/+-]+)\)?/gu;
/** Matches `Berlin time` and `US Eastern standard time`, also in brackets. */
const byTime = new RegExp(
  String.raw`\(?((?:${name}\s+){1,3})(?:(?:standard|daylight|summer|local)\s+)?time\b\)?`,
  'giu',
);
/** Matches a place after an hour: `10:30 Berlin`, `3pm in Paris`, `at 9:00 (London)`. */
const afterHour = new RegExp(
  String.raw`(?<=\d{1,2}[:.]\d{2}\s*(?:[ap]\.?m\.?)?|\d\s*[ap]\.?m\.?|o['’]clock)\s*,?\s*((?:in\s+)?\(?)(\p{Lu}${name.slice(5)}(?:\s\p{Lu}${name.slice(5)}){0,2})\)?`,
  'gu',
);

const hourBefore = /(?:\d{1,2}[:.]\d{2}|\d\s*[ap]\.?m\.?|o['’]clock)\s*,?\s*$/iu;

/** The zones that a text names, in order of position. */
export function zonesIn(text: string): NamedZone[] {
  const found: NamedZone[] = [];
  const add = (zone: string | null | undefined, from: number, to: number): void => {
    if (zone !== undefined && !found.some((one) => from < one.to && to > one.from)) found.push({ zone, from, to });
  };
  for (const match of text.matchAll(iana))
    add(zoneOf.get(cityOf(match[1]!)), match.index, match.index + match[0].length);
  for (const { 0: whole, 1: words, index } of text.matchAll(byTime)) {
    const known = longestEnd(words!);
    if (known) add(known.zone, index + whole.indexOf(words!) + known.at, index + whole.length);
    // A capitalized name after an hour is a place. An unknown place counts too, so that its time is not read in a wrong
    // zone.
    else if (hourBefore.test(text.slice(0, index)) && /^\(?\p{Lu}/u.test(whole)) add(null, index, index + whole.length);
  }
  for (const { 0: whole, 2: words, index } of text.matchAll(afterHour)) {
    const known = longestStart(words!);
    if (known) add(known.zone, index, index + whole.indexOf(words!) + known.length);
  }
  return found.toSorted((one, other) => one.from - other.from);
}

/** The longest sequence of the last words before `time` that names a place: `New York` in `to 10:30 New York`. */
function longestEnd(words: string): { zone: string; at: number } | undefined {
  const starts = [...words.matchAll(/\S+/gu)].map(({ index }) => index);
  for (const at of starts) {
    const zone = zoneOf.get(plain(words.slice(at).trim().replaceAll(/\s+/gu, ' ')));
    if (zone !== undefined) return { zone, at };
  }
  return undefined;
}

function longestStart(words: string): { zone: string; length: number } | undefined {
  const ends = [...words.matchAll(/\S+/gu)].map(({ index, 0: word }) => index + word.length).toReversed();
  for (const length of ends) {
    const zone = zoneOf.get(plain(words.slice(0, length)));
    if (zone !== undefined) return { zone, length };
  }
  return undefined;
}
