/**
 * Parses robots.txt by RFC 9309: which addresses are forbidden, the delay between requests, and the sitemaps. Pure; the
 * caller fetches the file, and waits when it cannot be fetched.
 */
import { defined } from '../base/defined.ts';

/** How much of a robots.txt is parsed, in bytes: 500 KiB, the minimum by RFC 9309, 2.5. */
export const maxRobotsBytes = 500 * 1024;

/** What the crawler does after the request for robots.txt: obey the file, fetch everything, or fetch nothing yet. */
export type RobotsPolicy = 'parse' | 'allow_all' | 'wait';

/**
 * The policy by RFC 9309, 2.3.1. A file is obeyed. Without a file (4xx), everything is allowed. While the server fails
 * or cannot be reached, nothing is fetched. 429 is an exception: it does not say whether there is a file, so nothing is
 * fetched for now. `status` is the status of the last response after redirects; undefined when the server cannot be
 * reached. A redirect that could not be followed (3xx) counts as no file.
 */
export function robotsPolicy(status: number | undefined): RobotsPolicy {
  if (status === undefined || status === 429 || status >= 500 || status < 200) return 'wait';
  return status < 300 ? 'parse' : 'allow_all';
}

export type Robots = {
  /** Whether an absolute address of this site may be fetched; false when it cannot be parsed. */
  allowed(url: string): boolean;
  /** Seconds between two requests as written in the file, uncapped; undefined when the file has no delay. */
  crawlDelay?: number;
  /** The sitemaps as written, without duplicates, in order. The caller resolves relative addresses. */
  sitemaps: string[];
};

/**
 * A rule. `parts` is its pattern split at the wildcards. `anchored`: the pattern ends with `$`, so it must match to the
 * end of the path. `octets` is the pattern's length; the longest matching rule decides.
 */
type Rule = { allow: boolean; parts: string[]; anchored: boolean; octets: number };
type Group = { rules: Rule[]; crawlDelay?: number };

/**
 * The maximum number of wildcard rules of a group that are applied. Large sites have some hundred such rules, and each
 * rule costs one pass over every checked address. Beyond this number, a rule that forbids is truncated at its first
 * wildcard, so it forbids more than the site asked but never less. A rule that allows is dropped.
 */
export const maxWildcardRules = 500;

type Field = 'agent' | 'allow' | 'disallow' | 'delay' | 'sitemap';
/** Field names in lower case, with the misspellings that large crawlers also accept. */
const fields: Readonly<Record<Field, readonly string[]>> = {
  agent: ['user-agent', 'useragent', 'user agent'],
  allow: ['allow'],
  disallow: ['disallow', 'dissallow', 'dissalow', 'disalow', 'diasllow', 'disallaw'],
  delay: ['crawl-delay', 'crawldelay', 'crawl delay'],
  sitemap: ['sitemap', 'sitemaps', 'site-map'],
};
const fieldOf: ReadonlyMap<string, Field> = new Map(
  (Object.keys(fields) as Field[]).flatMap((field) => fields[field].map((name) => [name, field] as const)),
);

/** The product token of a crawler: its name without version and comment, in lower case. */
function productToken(agent: string): string {
  return (/^[^\s/(]+/.exec(agent.trim())?.[0] ?? '').toLowerCase();
}

/**
 * The form in which patterns and addresses are compared (RFC 9309, 2.2.2). Characters that are neither unreserved nor
 * reserved are percent-encoded, encoded unreserved characters are decoded, and other escapes get upper-case digits. `*`
 * and `$` stay as they are, because they mean something different in patterns and in addresses.
 */
function comparable(text: string): string {
  return text.toWellFormed().replaceAll(/%[0-9a-f]{2}|[^\w.~:/?#[\]@!$&()*+,;=%-]+|%/gi, (found) => {
    if (found === '%') return '%25';
    if (found[0] !== '%') return encodeURIComponent(found).replaceAll("'", '%27');
    const character = String.fromCharCode(Number.parseInt(found.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : found.toUpperCase();
  });
}

function toRule(pattern: string, allow: boolean): Rule | undefined {
  // Paths begin with a slash, so a pattern that begins with neither a slash nor a wildcard matches nothing.
  if (!/^[/*]/.test(pattern)) return undefined;
  const normal = comparable(pattern);
  const anchored = normal.endsWith('$');
  const body = (anchored ? normal.slice(0, -1) : normal).replaceAll(/\*{2,}/g, '*');
  return { allow, parts: body.replaceAll('$', '%24').split('*'), anchored, octets: normal.length };
}

/**
 * Whether a pattern matches. Each part is searched for once, from the end of the part before it. The leftmost match
 * leaves the most room for the parts that follow, so no other match is tried. So a pattern with many wildcards takes
 * linear time.
 */
function matches({ parts, anchored }: Rule, path: string): boolean {
  const first = parts[0] ?? '';
  if (!path.startsWith(first)) return false;
  if (parts.length === 1) return !anchored || path.length === first.length;
  let at = first.length;
  const last = parts.length - 1;
  for (let index = 1; index < last; index += 1) {
    const part = parts[index] ?? '';
    const found = path.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  const end = parts[last] ?? '';
  return anchored ? path.length - end.length >= at && path.endsWith(end) : path.indexOf(end, at) >= 0;
}

function decode(source: Uint8Array | string): string {
  const bytes = typeof source === 'string' ? new TextEncoder().encode(source) : source;
  if (bytes.length <= maxRobotsBytes) return new TextDecoder().decode(bytes);
  // The last line may be incomplete, so it is dropped: half of `Disallow: /a/private` would forbid all of `/a`.
  const end = Math.max(bytes.lastIndexOf(10, maxRobotsBytes), bytes.lastIndexOf(13, maxRobotsBytes));
  return new TextDecoder().decode(bytes.subarray(0, Math.max(end, 0)));
}

function* linesOf(text: string): Generator<[Field, string]> {
  for (const raw of text.split(/[\r\n]+/)) {
    const comment = raw.indexOf('#');
    const line = comment < 0 ? raw : raw.slice(0, comment);
    const colon = line.indexOf(':');
    const field = colon < 0 ? undefined : fieldOf.get(line.slice(0, colon).trim().toLowerCase());
    if (field !== undefined) yield [field, line.slice(colon + 1).trim()];
  }
}

/**
 * The group for `token`, the group for all crawlers, and the sitemaps. Groups with the same name are merged (RFC 9309,
 * 2.2.1).
 */
function groupsOf(text: string, token: string): { own: Group | undefined; all: Group; sitemaps: string[] } {
  const all: Group = { rules: [] };
  const sitemaps = new Set<string>();
  let own: Group | undefined;
  let addressed = new Set<Group>();
  let naming = false;
  for (const [field, value] of linesOf(text)) {
    // Sitemaps belong to no group and do not end a list of user agents.
    if (field === 'sitemap') {
      if (value !== '') sitemaps.add(value);
      continue;
    }
    if (field === 'agent') {
      if (!naming) addressed = new Set();
      naming = true;
      const named = productToken(value);
      if (named === '*') addressed.add(all);
      else if (named === token) addressed.add((own ??= { rules: [] }));
      continue;
    }
    // A delay ends the list of user agents, although RFC 9309 does not define it. Files often have a group for `*` with
    // only a delay, followed by a group that forbids one crawler everything. If the delay did not end the list, both
    // groups would be one, and everything would be forbidden to all crawlers.
    naming = false;
    if (field === 'delay') {
      const seconds = /^\d{1,6}(?:\.\d{1,6})?$/.test(value) ? Number(value) : undefined;
      if (seconds !== undefined)
        for (const group of addressed) group.crawlDelay = Math.max(group.crawlDelay ?? 0, seconds);
      continue;
    }
    const rule = addressed.size === 0 ? undefined : toRule(value, field === 'allow');
    if (rule !== undefined) for (const group of addressed) group.rules.push(rule);
  }
  return { own, all, sitemaps: [...sitemaps] };
}

type Verdict = Pick<Rule, 'allow' | 'octets'>;

/** The stronger of two matching rules. The longer rule is stronger; of two equally long rules, the rule that allows. */
function stronger(a: Verdict | undefined, b: Verdict | undefined): Verdict | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  if (a.octets !== b.octets) return a.octets > b.octets ? a : b;
  return a.allow ? a : b;
}

/** Adds a rule; of two rules with the same text the stronger one is kept. */
function addTo(verdicts: Map<string, Verdict>, text: string, { allow, octets }: Rule): void {
  verdicts.set(text, stronger(verdicts.get(text), { allow, octets })!);
}

/**
 * Returns a function that applies the rules to a path. Wildcard rules are tried one by one. All other rules are found
 * in a map: for each length that a rule has, the beginning of the path with this length is looked up.
 */
function judgeBy(rules: readonly Rule[]): (path: string) => Verdict | undefined {
  const exact = new Map<string, Verdict>();
  const prefixes = new Map<string, Verdict>();
  const wildcards = new Map<string, Rule>();
  for (const rule of rules) {
    const first = rule.parts[0] ?? '';
    const key = `${rule.allow} ${rule.anchored} ${rule.octets} ${rule.parts.join('*')}`;
    if (rule.parts.length === 1) addTo(rule.anchored ? exact : prefixes, first, rule);
    else if (wildcards.size < maxWildcardRules || wildcards.has(key)) wildcards.set(key, rule);
    else if (!rule.allow) addTo(prefixes, first, rule);
  }
  const inOrder = [...wildcards.values()].sort((a, b) => b.octets - a.octets || Number(b.allow) - Number(a.allow));
  const lengths = [...new Set([...prefixes.keys()].map((text) => text.length))];
  return (path) => {
    const plain = lengths.reduce((found, n) => stronger(found, prefixes.get(path.slice(0, n))), exact.get(path));
    // `inOrder` is sorted by strength, so the search may stop at the first rule that is weaker than `plain`.
    const wild = inOrder.find((rule) => stronger(plain, rule) === plain || matches(rule, path));
    return stronger(plain, wild);
  };
}

/** Path and query of an absolute address in the form of patterns, with `*` and `$` percent-encoded. */
function comparablePath(url: string): string | undefined {
  const href = URL.parse(url)?.href.replace(/#.*$/s, '');
  const start = href?.indexOf('/', href.indexOf('//') + 2) ?? -1;
  if (href === undefined || start < 0) return undefined;
  return comparable(href.slice(start)).replaceAll('*', '%2A').replaceAll('$', '%24');
}

/**
 * Parses a robots.txt for the crawler `agent` (its product token, with or without version). Never throws: lines that
 * are not rules are skipped, so an HTML page in place of the file forbids nothing. The crawler's own group applies if
 * there is one, else the group for `*`. Within the group the longest matching pattern decides; of two equally long
 * patterns, the one that allows.
 */
export function parseRobots(source: Uint8Array | string, agent: string): Robots {
  const { own, all, sitemaps } = groupsOf(decode(source), productToken(agent));
  const { rules, crawlDelay } = own ?? all;
  const judge = judgeBy(rules);
  return {
    sitemaps,
    ...defined({ crawlDelay }),
    allowed(url) {
      const path = comparablePath(url);
      if (path === undefined) return false;
      if (path === '/robots.txt') return true;
      return judge(path)?.allow ?? true;
    },
  };
}
