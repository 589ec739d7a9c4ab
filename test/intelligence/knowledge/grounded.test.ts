/**
 * A model's answer is checked against its passages. Invented sentences are dropped. Paraphrases and translations are
 * kept.
 */
import { describe, expect, it } from '@jest/globals';
import { holdAgainst } from '../../../intelligence/model/chat/grounded.ts';
import { figuresIn, numbersIn } from '../../../intelligence/model/numbers.ts';

const cited = [
  'fees.xlsx',
  'Cards > Gold card',
  'The Linden Gold credit card costs 59.00 EUR a year, free from 12,000 EUR of payments. Call +49 30 5550 116 before 16:30. ' +
    'It arrives within five working days. Valid from 2026-01-05. Send the form T-500 with your IBAN to Harbourline in Rostock.',
];
const held = (text: string, told: string[] = []) => holdAgainst(text, { cited, told });

describe('sentences that are kept', () => {
  it.each([
    'The gold card is 59 EUR a year.',
    'Die Karte kostet 59,00 € im Jahr, ab 12.000 Euro Umsatz nichts.',
    'La carte coûte 59 € par an ; gratuite à partir de 12 000 EUR.',
    'It comes in 5 working days.',
    'Call before 4:30 pm.',
    'Rufen Sie vor 16.30 Uhr an: +49 (0)30 5550 116.'.replace('(0)', ''),
    'It holds from 5 January 2026.',
    'Send the form T-500 with your IBAN.',
    'You can write to Harbourline in Rostock.',
    'As the source says.',
    'Certainly! Here is what I found:',
    '1. Lock the card.\n2. Call us.',
    'Sie brauchen dafür das Formular und Ihre Kontonummer.',
  ])('a sentence of a model’s answer is kept when its numbers and names occur in the passages: %s', (text) => {
    expect(held(text)).toEqual({ text, dropped: [] });
  });
});

describe('sentences that are dropped', () => {
  it.each([
    ['with another number', 'The gold card costs 49 EUR a year.'],
    ['with a number that only the customer said', 'Yes, it costs 30 EUR.'],
    ['with another telephone number', 'Call +49 30 5550 999.'],
    ['with another time', 'Call before 17:30.'],
    ['with a name that nobody said', 'Write to Mister Bluebeard in Hamburg.'],
    ['with a code that nobody said', 'Send the form X-900.'],
    ['with an abbreviation that nobody said', 'You need your SWIFT for it.'],
    ['in German with a code that nobody said', 'Senden Sie das Formular X-900.'],
  ])('a sentence of a model’s answer is dropped when the passages do not support it: one %s', (_label, text) => {
    expect(held(text, ['Does it cost 30 EUR?'])).toEqual({ text: '', dropped: [text] });
  });
});

describe('the remaining text', () => {
  it('after a sentence of a model’s answer is dropped, the other sentences keep their lines', () => {
    const text =
      'The gold card costs 59 EUR. It has a bonus of 1,000 EUR. It arrives soon.\n\n- Call us.\n- Win 5,555 EUR.';
    expect(held(text)).toEqual({
      text: 'The gold card costs 59 EUR. It arrives soon.\n\n- Call us.',
      dropped: ['It has a bonus of 1,000 EUR.', 'Win 5,555 EUR.'],
    });
  });

  it('an answer may repeat a name and a number of the customer in a sentence with a number of the documents', () => {
    const told = ['My Samsung shows 30 EUR for the gold card, why?'];
    expect(held('On your Samsung the card costs 59 EUR, not 30 EUR.', told).dropped).toEqual([]);
    expect(held('On your Samsung the card costs 59 EUR.').dropped).toHaveLength(1);
  });

  it('an answer in another language may translate the names of things in the passage', () => {
    expect(held('Vous trouvez la carte sous Paramètres dans l’appli.').dropped).toEqual([]);
  });
});

describe('numbers', () => {
  it.each([
    ['1,000.50', '1.000,50'],
    ['1 000', '1000'],
    ['12.50', '12,5'],
    ['05', '5'],
    ['16.30', '16:30'],
    ['1’000', '1,000'],
  ])('the number %s equals %s', (one, other) => {
    const forms = new Set(figuresIn(one).flat());
    expect(
      figuresIn(other)
        .flat()
        .some((form) => forms.has(form)),
    ).toBe(true);
  });
  it.each([
    ['1,000', '100'],
    ['12.50', '1250.5'],
    ['59', '5.9'],
  ])('the number %s differs from %s', (one, other) => {
    const forms = new Set(figuresIn(one).flat());
    expect(
      figuresIn(other)
        .flat()
        .some((form) => forms.has(form)),
    ).toBe(false);
  });
  it('numbers written as words are found', () => {
    for (const text of ['five days', 'fünf Tage', 'cinq jours', 'cinco días']) expect(numbersIn(text)).toContain('5');
  });
  it('a superscript is not part of the number before it, and two superscripts may be the cents of a price', () => {
    expect(numbersIn('49¹ EUR')).toEqual(new Set(['49']));
    for (const number of ['9', '9.99']) expect(numbersIn('9⁹⁹ €')).toContain(number);
    expect(numbersIn('9⁹⁹ €')).not.toContain('999');
  });
  it('numbers are found in linear time', () => {
    const text = '1.'.repeat(200_000);
    expect(numbersIn(text).size).toBeGreaterThan(0);
  });
});
