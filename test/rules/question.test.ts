import { describe, expect, it } from '@jest/globals';
import { askedIn, contextualize } from '../../models/rules/question.ts';

const intro = 'Hello, my name is Peter Example and I have been a customer since 1998.';
const debit = 'How many weeks do I have to return a direct debit?';

describe('askedIn', () => {
  it.each<[string, string, string]>([
    ['a question alone is as it stands', debit, debit],
    ['a few words alone, too', 'opening hours', 'opening hours'],
    ['an introduction asks nothing', `${intro} ${debit}`, debit],
    ['nor does a farewell', `${debit} Thank you very much. Best regards, Peter`, debit],
    ['a question needs no mark', 'I am Peter. how do i return a direct debit', 'how do i return a direct debit'],
    [
      'it may be announced',
      'i am peter and i want to know: how do i return a direct debit',
      'how do i return a direct debit',
    ],
    ['nor has it to be English', 'Ich heiße Peter. Was kostet ein Kontoauszug', 'Was kostet ein Kontoauszug'],
    [
      'what names nothing itself has what was said before it',
      'My card was stolen. What can I do? Thanks!',
      'My card was stolen. What can I do?',
    ],
    ['so has what points back', 'We have a yacht. Do you finance it?', 'We have a yacht. Do you finance it?'],
    [
      'where nothing asks, the last sentence that is no farewell',
      `${intro} I forgot my PIN. Thanks!`,
      'I forgot my PIN.',
    ],
    ['a farewell alone is as it stands', 'Thanks! Best regards', 'Thanks! Best regards'],
    [
      'every question counts',
      `${debit} I am Peter. What does a paper statement cost?`,
      `${debit}\nWhat does a paper statement cost?`,
    ],
    ['nothing is nothing', '', ''],
  ])('%s', (_, message, text) => {
    expect(askedIn(message).text).toBe(text);
  });

  it('parts the questions that a sentence joins, and keeps those that name enough', () => {
    expect(askedIn('How do I freeze my card, and what does a new card by post cost?').questions).toEqual([
      'How do I freeze my card, and what does a new card by post cost?',
      'how do i freeze my card',
      'and what does a new card by post cost?',
    ]);
  });

  it('does not part a question from its condition', () => {
    const message = 'If I lose my yacht at sea, what does the travel insurance pay?';
    expect(askedIn(message).questions).toEqual([message]);
  });

  it('looks at a bounded number of questions', () => {
    expect(askedIn(`${debit} `.repeat(50)).questions).toHaveLength(8);
  });
});

describe('contextualize', () => {
  const history = [
    { role: 'customer', body: 'What does the gold card cost?' },
    { role: 'ai', body: '49 EUR.' },
  ];
  it('reads a question without a subject of its own together with the previous one', () => {
    expect(contextualize('And for students?', history)).toContain('gold card');
    expect(contextualize('And for students?', [])).toBe('And for students?');
    expect(contextualize('How do I block a stolen card?', history)).toBe('How do I block a stolen card?');
  });

  it('puts the question first, as one with what was asked before and without what was told', () => {
    const told = 'I ask because I have much to tell you. '.repeat(40);
    const long = [{ role: 'customer', body: `${told}What does the gold card cost? ${told}` }];
    expect(contextualize('And for students?', long)).toBe('And for students – What does the gold card cost?');
  });
});
