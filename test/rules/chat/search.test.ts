/** The words that a search looks for, and the excerpt that a hit shows. */
import { describe, expect, it } from '@jest/globals';
import { excerptOf, foldedText, hasAllWords, searchWords } from '../../../models/rules/chat/search.ts';

describe('the words of a query', () => {
  it.each([
    ['card fee', ['card', 'fee']],
    ['  "card" -fee + (x) ', ['card', 'fee', 'x']],
    ['grace@customer.example', ['grace@customer.example']],
    ["what's the fee?", ["what's", 'the', 'fee']],
    ['card card card.', ['card']],
    ['¿?!"\\', []],
    ['größe Año', ['größe', 'Año']],
  ])('searchWords splits the query %j into %j', (query, words) => {
    expect(searchWords(query)).toEqual(words);
  });

  it('a query whose accents are separate characters has the same words as a query with accented letters', () => {
    expect(searchWords('größe Año'.normalize('NFD'))).toEqual(['größe', 'Año']);
  });

  it('a search uses only the first ten words of a long query', () => {
    expect(searchWords(Array.from({ length: 50 }, (_, at) => `w${at}`).join(' '))).toHaveLength(10);
  });
});

describe('a whole word', () => {
  it.each([
    ['Karte für alle', ['art'], false],
    ['Karte für alle', ['karte', 'all'], false],
    ['Karte, (für) alle!', ['karte', 'für', 'alle'], true],
    ['Kartenart: art', ['art'], true],
    ['a xa-a-a', ['a-a'], true],
    ['Order 12345', ['1234'], false],
    ['𝒜rt 𝒜', ['rt'], false],
    ['हिन्दी', ['ह'], false],
    ['ΣΤΗΝ ΟΔΟΣ', ['οδός'], true],
    ['שָׁלוֹם לך', ['שלום'], true],
  ])('hasAllWords finds in %j the words %j as whole words: %j', (text, words, found) => {
    expect(hasAllWords(text, words)).toBe(found);
  });

  it.each([
    ['我要退款吗', ['退款']],
    ['我的iPhone坏了', ['iPhone', '坏']],
    ['すごーーい', ['すごー']],
    ['ต้องการคืนเงิน', ['คืน']],
  ])('in a script without blanks, a word is found inside a longer run of characters: %j, %j', (text, words) => {
    expect(hasAllWords(text, words)).toBe(true);
  });
});

describe('an excerpt', () => {
  it('the marks in an excerpt show the found words in the original text, whatever their case and accents', () => {
    const text = 'Die Gebühr für ÄRGER 😀 beträgt 5 EUR';
    expect(foldedText(text)).toHaveLength(text.length);
    const { excerpt, marks } = excerptOf(text, ['gebuhr', 'betragt']);
    expect(marks.map(([start, end]) => excerpt.slice(start, end))).toEqual(['Gebühr', 'beträgt']);
    expect([hasAllWords(text, ['arger', 'eur']), hasAllWords(text, ['arger', 'usd'])]).toEqual([true, false]);
  });

  it('an excerpt marks no part of a longer word', () => {
    const { excerpt, marks } = excerptOf('Die Kartenart ist die art der Karte.', ['art', 'karte']);
    expect(marks.map(([start, end]) => [start, excerpt.slice(start, end)])).toEqual([
      [22, 'art'],
      [30, 'Karte'],
    ]);
  });

  it('a text whose accents are separate characters is found and marked like a text with accented letters', () => {
    const text = 'Die Gebühren für Cafés'.normalize('NFD');
    expect([hasAllWords(text, ['Gebühren', 'cafes']), hasAllWords(text, ['caffes'])]).toEqual([true, false]);
    const { excerpt, marks } = excerptOf(text, ['Gebühren', 'cafes']);
    expect(marks.map(([start, end]) => excerpt.slice(start, end))).toEqual(['Gebühren', 'Cafés']);
  });

  it('a search for a Korean word finds that word, and no other word with the same initial consonants', () => {
    expect([hasAllWords('한국 배송', ['한국']), hasAllWords('학교 문의', ['한국'])]).toEqual([true, false]);
  });

  it('the excerpt of a long text is one line around the first word that was found', () => {
    const text = `${'before '.repeat(50)}\n\nneedle ${'after '.repeat(100)}`;
    const { excerpt, marks } = excerptOf(text, ['needle']);
    expect(excerpt.length).toBeLessThan(250);
    expect(excerpt).toMatch(/^… before .*needle after .* …$/);
    expect(marks.map(([start, end]) => excerpt.slice(start, end))).toEqual(['needle']);
  });

  it('an excerpt shows the word that was found even when no word begins shortly before it', () => {
    const text = `https://shop.example/${'x'.repeat(100)}/needle/${'y'.repeat(20)} and ${'after '.repeat(100)}`;
    const { excerpt, marks } = excerptOf(text, ['needle']);
    expect(marks.map(([start, end]) => excerpt.slice(start, end))).toEqual(['needle']);
    expect(excerpt).toMatch(/^… x{10,}\/needle\/y+ and after .* …$/);
  });

  it('the excerpt of a text in which no word is found starts at the beginning and has no marks', () => {
    expect(excerptOf('Hello there', ['x'])).toEqual({ excerpt: 'Hello there', marks: [] });
  });
});
