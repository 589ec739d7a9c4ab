import { describe, expect, it } from '@jest/globals';
import { fold, genericWeight, matcher, stem, terms } from '../../../models/rules/language/words.ts';

const stems = (text: string): string[] => terms(text).map((term) => term.stem);

describe('stem', () => {
  it.each([
    ['card cards'],
    ['fee fees'],
    ['branch branches'],
    ['country countries'],
    ['replace replaced replaces replacement replacements replacing'],
    ['cancel cancels cancelled cancelling cancellation'],
    ['transfer transfers transferred transferring'],
    ['charge charged charges charging'],
    ['apply applied applies applying'],
    ['call called calls calling'],
    ['install installed installation'],
    ['month monthly'],
    ['address addresses'],
    ['business businesses'],
    ['tax taxes'],
  ])('the following words have one stem: %s', (words) => {
    expect(new Set(words.split(' ').map((word) => stem(word))).size).toBe(1);
  });

  it.each([
    ['card', 'care'],
    ['bus', 'business'],
    ['account', 'accountant'],
    ['49', '50'],
    ['iban', 'ban'],
  ])('the words %s and %s have different stems', (a, b) => {
    expect(stem(a)).not.toBe(stem(b));
  });
});

describe('terms', () => {
  it('terms() returns the distinct content words of a text without the function words of common languages', () => {
    expect(stems('What is the annual fee of the gold card, and the card of the bank?')).toEqual([
      'annual',
      'fee',
      'gold',
      'card',
      'bank',
    ]);
    expect(stems('Was kostet die Überweisung ins Ausland?')).toEqual(['kostet', 'uberweisung', 'ausland']);
    expect(stems('Où est la banque ?')).toEqual(['banqu']);
  });

  it('a generic word weighs less than a word that names a subject', () => {
    expect(terms('open account')).toEqual([
      { stem: 'open', weight: genericWeight },
      { stem: 'account', weight: 1 },
    ]);
  });

  it('text in a language without blanks, such as Japanese, is segmented into words', () => {
    expect(stems('東京の支店')).toEqual(['東京', '支店']);
  });

  it.each(['', '?', 'how much is it', '\u0000', '\ud800', '😀'])('the text %j has no terms', (text) => {
    expect(terms(text)).toEqual([]);
  });

  it('a text has at most 64 terms', () => {
    expect(terms(Array.from({ length: 5_000 }, (_, index) => `word${index}x`).join(' '))).toHaveLength(64);
  });
});

describe('matcher', () => {
  it('the matcher finds stems in any form and case, but only at the start of a word', () => {
    const seen = matcher(stems('apply transfer Überweisung card 東京 country 49'));
    expect(seen('We APPLIED; transferring… eine UBERWEISUNG to 東京都 in 49 countries')).toEqual(
      new Set(['appli', 'transfer', 'uberweisung', '東京', '49', 'countri']),
    );
    expect(seen('a discard, 149 and 490')).toEqual(new Set());
  });

  it('the matcher finds nothing for an empty list of stems, and takes regular expression characters literally', () => {
    expect(matcher([])('anything')).toEqual(new Set());
    expect(matcher(['.*', '('])('anything (')).toEqual(new Set());
  });

  it('fold writes text in lower case, without accents, ligatures and ß', () => {
    expect(fold('ÜBERWEISUNG ﬁne Straße')).toBe('uberweisung fine strasse');
  });

  it('a superscript after a number is a word of its own, so that the number is found', () => {
    expect(fold('1000¹ EUR for 20 m²')).toBe('1000 1 eur for 20 m2');
    expect(matcher(['1000'])('1000¹ EUR')).toEqual(new Set(['1000']));
  });
});
