import { describe, expect, it, jest } from '@jest/globals';
import robotsParser from 'robots-parser';
import { maxRobotsBytes, maxWildcardRules, parseRobots, robotsPolicy } from '../../../models/rules/crawl/robots.ts';

const site = 'https://example.com';
const allowed = (text: string, path: string, agent = 'SupportBot/1.0'): boolean =>
  parseRobots(text, agent).allowed(site + path);

/** Counts how often a prefix of an address is compared while `act` runs. */
function comparisonsOf(act: () => void): number {
  const compare = jest.spyOn(String.prototype, 'startsWith');
  try {
    act();
    return compare.mock.calls.length;
  } finally {
    compare.mockRestore();
  }
}

describe('the rules of one group', () => {
  it.each<[string, string, boolean]>([
    ['Disallow: /', '/a', false],
    ['Disallow:', '/a', true],
    ['Allow:', '/a', true],
    ['Disallow: /a', '/ab', false],
    ['Disallow: /a/', '/a', true],
    ['Disallow: /A', '/a', true],
    ['Disallow: a', '/a', true],
    ['Disallow: https://example.com/a', '/a', true],
    // The longest matching pattern decides in any order. Allow wins over a Disallow of equal length.
    ['Disallow: /a\nAllow: /a/b', '/a/b/c', true],
    ['Allow: /a/b\nDisallow: /a', '/a/c', false],
    ['Disallow: /a\nAllow: /a', '/a', true],
    ['Allow: /a\nDisallow: /a', '/a', true],
    ['Allow: /p\nDisallow: /*.php', '/p.php', false],
    ['Allow: /$\nDisallow: /', '/', true],
    ['Allow: /$\nDisallow: /', '/a', false],
    ['Disallow: **\nAllow: *', '/a', false],
    // Wildcards and the end anchor.
    ['Disallow: /*.pdf$', '/a/b.pdf', false],
    ['Disallow: /*.pdf$', '/a/b.pdf?x=1', true],
    ['Disallow: /*.pdf', '/a/b.pdf?x=1', false],
    ['Disallow: /a*b*c', '/a1b2c3', false],
    ['Disallow: /a*b*c', '/a1c2b3', true],
    ['Disallow: /a*a$', '/a', true],
    ['Disallow: /*a*', '/bab', false],
    ['Disallow: *', '/', false],
    ['Disallow: /a$', '/a', false],
    ['Disallow: /a$', '/ab', true],
    ['Disallow: /*?', '/a?b', false],
    ['Disallow: /*?', '/a?', false],
    ['Disallow: /*?', '/a', true],
    ['Disallow: /a$b', '/a$b', false],
    ['Disallow: /a$b', '/a', true],
    // Percent-encoding: an encoded unreserved character equals the character, hexadecimal digits ignore case, and
    // encoded reserved characters stay distinct.
    ['Disallow: /%62ar', '/bar', false],
    ['Disallow: /bar', '/%62ar', false],
    ['Disallow: /%e3%83%84', '/ツ', false],
    ['Disallow: /ツ', '/%E3%83%84', false],
    ['Disallow: /a%2Fb', '/a/b', true],
    ['Disallow: /a%2fb', '/a%2Fb', false],
    ['Disallow: /a%2Ab', '/a*b', false],
    ['Disallow: /a%2Ab', '/axb', true],
    ['Disallow: /a%24', '/a$', false],
    ['Disallow: /a%24', '/a', true],
    ["Disallow: /?q='x'", "/?q='x'", false],
    ['Disallow: /100%', '/100%', false],
    ['Disallow: /a b', '/a%20b', false],
    ['Disallow: /', '/robots.txt', true],
    // Accepted spellings of a line.
    ['DISALLOW : /a # not this', '/a', false],
    ['  disallow:/a\t', '/a', false],
    ['Dissallow: /a', '/a', false],
    ['Disallow /a', '/a', true],
  ])('the robots.txt rules %j allow %s: %s', (rules, path, expected) =>
    expect(allowed(`User-agent: *\n${rules}`, path)).toBe(expected),
  );
});

describe('groups', () => {
  it.each<[string, string, boolean]>([
    ['its own instead of the one for all', 'User-agent: *\nDisallow: /\n\nUser-agent: supportbot\nDisallow: /a', true],
    ['its own without a rule', 'User-agent: *\nDisallow: /\n\nUser-agent: SupportBot', true],
    ['the one for all', 'User-agent: other\nAllow: /\n\nUser-agent: *\nDisallow: /', false],
    ['none', 'User-agent: other\nDisallow: /', true],
    ['rules before any name', 'Disallow: /\nUser-agent: *\nAllow: /a', true],
    ['a name is compared whole', 'User-agent: support\nDisallow: /\nUser-agent: supportbot2\nDisallow: /', true],
    ['a name in any case', 'USER-AGENT: SUPPORTBOT\nDisallow: /', false],
    ['a name with version and remark', 'User-agent: SupportBot/2.1 (beta)\nDisallow: /', false],
    ['two groups of one name', 'User-agent: supportbot\nDisallow: /x\n\nUser-agent: supportbot\nDisallow: /', false],
    ['names one after the other', 'User-agent: supportbot\n\nUser-agent: other\nDisallow: /', false],
    [
      'a sitemap between names',
      'User-agent: supportbot\nSitemap: https://example.com/s\nUser-agent: b\nDisallow: /',
      false,
    ],
    ['an unknown line between names', 'User-agent: supportbot\nNoarchive: x\nUser-agent: b\nDisallow: /', false],
    ['a delay ends the names', 'User-agent: *\nCrawl-delay: 5\nUser-agent: badbot\nDisallow: /', true],
    ['a byte order mark', '\ufeffUser-agent: *\nDisallow: /', false],
    ['line ends of old', 'User-agent: *\rDisallow: /', false],
    ['a page in its place', '<!doctype html><title>Not found: /</title><p>Disallow: /', true],
    ['nothing', '', true],
  ])(
    'the crawler obeys the robots.txt group for its name, or else the group for all crawlers: %s',
    (_label, text, expected) => expect(allowed(text, '/page')).toBe(expected),
  );

  it('robots.txt does not allow an invalid address', () =>
    expect(parseRobots('', 'a').allowed('nonsense')).toBe(false));

  it('Sitemap lines are read anywhere in robots.txt, and each address once', () => {
    const text =
      'Sitemap: https://example.com/a.xml\nUser-agent: x\nsite-map: /b.xml\nSITEMAP: https://example.com/a.xml\nSitemap:';
    expect(parseRobots(text, 'supportbot').sitemaps).toEqual(['https://example.com/a.xml', '/b.xml']);
  });

  it.each<[string, number | undefined]>([
    ['User-agent: *\nCrawl-delay: 2.5', 2.5],
    ['User-agent: *\nCrawl-delay: 2\nUser-agent: supportbot\nCrawl-delay: 7', 7],
    ['User-agent: *\nCrawl-delay: 2\nUser-agent: supportbot\nDisallow: /a', undefined],
    ['User-agent: *\nCrawl-delay: 5\nUser-agent: *\nCrawl-delay: 3', 5],
    ['User-agent: *\nCrawl-delay: -1', undefined],
    ['User-agent: *\nCrawl-delay: soon', undefined],
    ['User-agent: *\nCrawl-delay: 1e9', undefined],
    ['User-agent: *\nCrawl-delay: Infinity', undefined],
  ])('the robots.txt %j asks for a delay of %s seconds', (text, delay) => {
    expect(parseRobots(text, 'supportbot').crawlDelay).toBe(delay);
  });
});

describe('hostile files', () => {
  it('robots.txt is read up to 500 KiB, and the line that crosses this limit is ignored', () => {
    const head = 'User-agent: *\nDisallow: /first\n';
    const filler = `#${'x'.repeat(maxRobotsBytes - head.length - 16)}\n`;
    const text = `${head}${filler}Disallow: /cut/here\nDisallow: /last\n`;
    expect(text.indexOf('/cut/here')).toBeLessThan(maxRobotsBytes);
    const robots = parseRobots(Buffer.from(text), 'x');
    expect(['/first', '/cut', '/cut/here', '/last'].map((path) => robots.allowed(site + path))).toEqual([
      false,
      true,
      true,
      true,
    ]);
  });

  it('robots.txt rules with tens of thousands of wildcards still forbid the addresses that they match', () => {
    const lines = Array.from({ length: 20_000 }, (_, n) => `Disallow: /p${n}/*a*b$`).join('\n');
    const robots = parseRobots(`User-agent: *\n${lines}\nAllow: /p19999/*`, 'x');
    for (const n of [0, 15_000, 19_999]) expect(robots.allowed(`${site}/p${n}/${'a'.repeat(1_500)}b`)).toBe(false);
    expect(robots.allowed(`${site}/q/${'a'.repeat(1_500)}b`)).toBe(true);
  });

  it('tens of thousands of robots.txt rules without wildcards are looked up and not compared one by one', () => {
    const lines = Array.from({ length: 20_000 }, (_, n) => `Disallow: /p${n}`).join('\n');
    const robots = parseRobots(`User-agent: *\n${lines}\nAllow: /p19999/a\nDisallow: /q$`, 'x');
    const compared = comparisonsOf(() => {
      expect(['/p0', '/p19999/b', '/p19999/a/c', '/o', '/q', '/qq'].map((path) => robots.allowed(site + path))).toEqual(
        [false, false, true, true, false, true],
      );
    });
    expect(compared).toBe(0);
  });

  it('an address is compared with at most 500 robots.txt rules that have wildcards', () => {
    const lines = Array.from({ length: 20_000 }, (_, n) => `Disallow: /p*${n}z`).join('\n');
    const robots = parseRobots(`User-agent: *\n${lines}\nAllow: /p*19999z`, 'x');
    // The later rules are not compared. Every address that fits their text before the first wildcard counts as
    // forbidden.
    const compared = comparisonsOf(() => expect(robots.allowed(`${site}/p1`)).toBe(false));
    expect(compared).toBeLessThanOrEqual(maxWildcardRules);
    expect(robots.allowed(`${site}/o`)).toBe(true);
  });

  it('tens of thousands of equal User-agent lines count as one name', () => {
    const text = `${'User-agent: *\n'.repeat(20_000)}${'Disallow: /a\nCrawl-delay: 1\n'.repeat(8_000)}`;
    expect(parseRobots(text, 'x').allowed(`${site}/a`)).toBe(false);
  });

  it('invalid UTF-8 and agent names from Object.prototype do not disturb the parsing of robots.txt', () => {
    const bytes = Buffer.concat([
      Buffer.from('User-agent: __proto__\nDisallow: /\nUser-agent: *\nDisallow: /a\n'),
      Buffer.of(0xff, 0, 0xfe),
    ]);
    expect(parseRobots(bytes, 'constructor').allowed(`${site}/b`)).toBe(true);
    expect(parseRobots(bytes, '__proto__').allowed(`${site}/b`)).toBe(false);
  });
});

describe('robotsPolicy', () => {
  it.each([
    [200, 'parse'],
    [204, 'parse'],
    [301, 'allow_all'],
    [401, 'allow_all'],
    [403, 'allow_all'],
    [404, 'allow_all'],
    [410, 'allow_all'],
    [429, 'wait'],
    [500, 'wait'],
    [503, 'wait'],
    [undefined, 'wait'],
  ])('a robots.txt answered with status %s leads to the policy %s', (status, policy) =>
    expect(robotsPolicy(status)).toBe(policy),
  );
});

describe('compared with a check of all rules', () => {
  it('the fast lookup of robots.txt rules gives the same result as a comparison with every rule', () => {
    let state = 5;
    const roll = (n: number): number => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((state / 2 ** 32) * n);
    };
    const path = (most: number): string =>
      Array.from({ length: 1 + roll(most) }, () => ['/', 'a', 'b'][roll(3)]).join('');
    const outcomes = { true: 0, false: 0 };
    for (let run = 0; run < 300; run += 1) {
      const rules = Array.from({ length: 30 }, () => ({
        allow: roll(2) === 0,
        body: `/${path(6)}`,
        end: roll(6) === 0,
      }));
      const text = rules.map(({ allow, body, end }) => `${allow ? 'Allow' : 'Disallow'}: ${body}${end ? '$' : ''}`);
      const robots = parseRobots(['User-agent: *', ...text].join('\n'), 'x');
      for (let each = 0; each < 20; each += 1) {
        const asked = `/${path(8)}`;
        const matching = rules.filter(({ body, end }) => (end ? asked === body : asked.startsWith(body)));
        const length = ({ body, end }: { body: string; end: boolean }) => body.length + Number(end);
        const longest = Math.max(...matching.map(length));
        const deciding = matching.filter((rule) => length(rule) === longest);
        const expected = deciding.length === 0 || deciding.some(({ allow }) => allow);
        expect([text, asked, robots.allowed(site + asked)]).toEqual([text, asked, expected]);
        outcomes[`${expected}`] += 1;
      }
    }
    expect(Math.min(outcomes.true, outcomes.false)).toBeGreaterThan(500);
  });
});

describe('compared with robots-parser', () => {
  it('the robots.txt parser gives the same result as the library robots-parser wherever that library follows RFC 9309', () => {
    let state = 11;
    const roll = (n: number): number => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((state / 2 ** 32) * n);
    };
    const pick = (list: readonly string[]): string => list[roll(list.length)] ?? '';
    const pieces = ['/', '/a', '/b', '/ab', 'a', 'b', '.html', '?q=', '&x=1', 'é', '/a/b'];
    // robots-parser breaks the RFC for groups without rules and for agent names separated by a sitemap line. So each
    // generated group has one rule and no such line.
    const peerOf = robotsParser as unknown as (
      url: string,
      text: string,
    ) => { isAllowed(url: string, agent: string): boolean };
    const outcomes = { true: 0, false: 0 };
    for (let run = 0; run < 500; run += 1) {
      const lines = Array.from({ length: 1 + roll(3) }, () => [
        `User-agent: ${pick(['*', 'SupportBot', 'supportbot', 'other'])}`,
        ...Array.from({ length: 1 + roll(5) }, () => {
          const body = Array.from({ length: roll(4) }, () => pick([...pieces, '*'])).join('');
          return `${pick(['Allow', 'Disallow', 'disallow'])}: ${pick(['/', '/', '*'])}${body}${pick(['', '', '', '$'])}`;
        }),
      ]).flat();
      const text = lines.join('\n');
      const [ours, peer] = [parseRobots(text, 'SupportBot/1.0'), peerOf(`${site}/robots.txt`, text)];
      for (let each = 0; each < 8; each += 1) {
        const url = new URL(`${site}/${Array.from({ length: roll(5) }, () => pick(pieces)).join('')}`).href;
        const decision = ours.allowed(url);
        expect([text, url, decision]).toEqual([text, url, peer.isAllowed(url, 'SupportBot/1.0')]);
        outcomes[`${decision}`] += 1;
      }
    }
    expect(Math.min(outcomes.true, outcomes.false)).toBeGreaterThan(500);
  });
});
