/** What a search looks for, and what a hit shows. */
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
  ])('%j is %j', (query, words) => {
    expect(searchWords(query)).toEqual(words);
  });

  it('of a long query the first ten words count', () => {
    expect(searchWords(Array.from({ length: 50 }, (_, at) => `w${at}`).join(' '))).toHaveLength(10);
  });
});

describe('an excerpt', () => {
  it('case and accents do not count, and offsets stay right', () => {
    const text = 'Die Gebühr für ÄRGER 😀 beträgt 5 EUR';
    expect(foldedText(text)).toHaveLength(text.length);
    const { excerpt, marks } = excerptOf(text, ['gebuhr', 'betragt']);
    expect(marks.map(([start, end]) => excerpt.slice(start, end))).toEqual(['Gebühr', 'beträgt']);
    expect([hasAllWords(text, ['arger', 'eur']), hasAllWords(text, ['arger', 'usd'])]).toEqual([true, false]);
  });

  it('a long text is shown around the first word that was found, on one line', () => {
    const text = `${'before '.repeat(50)}\n\nneedle ${'after '.repeat(100)}`;
    const { excerpt, marks } = excerptOf(text, ['needle']);
    expect(excerpt.length).toBeLessThan(250);
    expect(excerpt).toMatch(/^… before .*needle after .* …$/);
    expect(marks.map(([start, end]) => excerpt.slice(start, end))).toEqual(['needle']);
  });

  it('a text without the word, whose accents another alphabet folds, is shown from its beginning', () => {
    expect(excerptOf('Hello there', ['x'])).toEqual({ excerpt: 'Hello there', marks: [] });
  });
});
