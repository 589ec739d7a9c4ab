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
  ])('is one for %s', (words) => {
    expect(new Set(words.split(' ').map((word) => stem(word))).size).toBe(1);
  });

  it.each([
    ['card', 'care'],
    ['bus', 'business'],
    ['account', 'accountant'],
    ['49', '50'],
    ['iban', 'ban'],
  ])('keeps %s and %s apart', (a, b) => {
    expect(stem(a)).not.toBe(stem(b));
  });
});

describe('terms', () => {
  it('are the content words, each once, without function words of the common languages', () => {
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

  it('weigh a generic word less than one that names a subject', () => {
    expect(terms('open account')).toEqual([
      { stem: 'open', weight: genericWeight },
      { stem: 'account', weight: 1 },
    ]);
  });

  it('cut words of scripts without blanks', () => {
    expect(stems('東京の支店')).toEqual(['東京', '支店']);
  });

  it.each(['', '?', 'how much is it', '\u0000', '\ud800', '😀'])('of %j are none', (text) => {
    expect(terms(text)).toEqual([]);
  });

  it('are bounded, however long the question is', () => {
    expect(terms(Array.from({ length: 5_000 }, (_, index) => `word${index}x`).join(' '))).toHaveLength(64);
  });
});

describe('matcher', () => {
  it('tells which stems a text speaks of, in any form and case, at the beginning of words only', () => {
    const seen = matcher(stems('apply transfer Überweisung card 東京 country 49'));
    expect(seen('We APPLIED; transferring… eine UBERWEISUNG to 東京都 in 49 countries')).toEqual(
      new Set(['appli', 'transfer', 'uberweisung', '東京', '49', 'countri']),
    );
    expect(seen('a discard, 149 and 490')).toEqual(new Set());
  });

  it('finds nothing for no stems, and takes signs of expressions as signs', () => {
    expect(matcher([])('anything')).toEqual(new Set());
    expect(matcher(['.*', '('])('anything (')).toEqual(new Set());
  });

  it('folds as the index does', () => {
    expect(fold('ÜBERWEISUNG ﬁne Straße')).toBe('uberweisung fine strasse');
  });
});
