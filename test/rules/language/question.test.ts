import { describe, expect, it } from '@jest/globals';
import { askedIn, contextualize } from '../../../models/rules/language/question.ts';

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
    ['what opens a talk asks nothing', 'Hello, can you help me? My card was stolen.', 'My card was stolen.'],
    ['in German neither', 'Hallo, können Sie mir helfen? Ich habe eine Frage: Was kostet es?', 'Was kostet es?'],
    ['nor in French', 'Bonjour, pouvez-vous m’aider ? Ma carte a été volée.', 'Ma carte a été volée.'],
    ['a wish is a question', 'I want to close my account. I live in Spain now.', 'I want to close my account.'],
    [
      'one for help leans on what is told',
      'My card was stolen. What should I do next?',
      'My card was stolen. What should I do next?',
    ],
    [
      'a program’s signature says nothing',
      'Please cancel my subscription.\n\nSent from my iPhone',
      'Please cancel my subscription.',
    ],
    [
      'nor does a footer',
      'How do I close it?\n\nThis e-mail is confidential. Do you have to print it?',
      'How do I close it?',
    ],
    [
      'nor a name and an address',
      'My invoice is wrong.\n\nPeter Example\nExample Street 5, 18055 Rostock',
      'My invoice is wrong.',
    ],
    [
      'nor what follows a farewell',
      'Meine Rechnung ist falsch.\n\nMit freundlichen Grüßen\nPetra Beispiel\nTel: 0381 123456',
      'Meine Rechnung ist falsch.',
    ],
    ['a farewell alone is as it stands', 'Thanks! Best regards', 'Thanks! Best regards'],
    [
      'every question counts',
      `${debit} I am Peter. What does a paper statement cost?`,
      `${debit}\nWhat does a paper statement cost?`,
    ],
    [
      'nor where to reach somebody',
      'My invoice is wrong.\nPeter Example\nTel. +49 381 123456\npeter@example.com',
      'My invoice is wrong.',
    ],
    ['nothing is nothing', '', ''],
  ])('%s', (_, message, text) => {
    expect(askedIn(message)[0].text).toBe(text);
  });

  it.each<[string, string, string]>([
    ['a town alone', 'When are you open?\n18055 Rostock', 'When are you open? 18055 Rostock'],
    [
      'a line of few words',
      'My router is broken:\nIt blinks red\nModel X200',
      'My router is broken: It blinks red Model X200',
    ],
    [
      'thanks that go on',
      'Thanks, but my card was stolen.\nIt was gold.',
      'Thanks, but my card was stolen. It was gold.',
    ],
    ['a closing word that asks', 'My card was stolen.\nThanks, what now?', 'My card was stolen. Thanks, what now?'],
    ['a fault with a device', 'It is broken.\nMobile: the app stops', 'It is broken. Mobile: the app stops'],
    ['what somebody gets', 'I have moved.\nGet no mail from you', 'I have moved. Get no mail from you'],
    [
      'a greeting that goes on',
      'Dear team, my card was stolen. I am in Rome.',
      'Dear team, my card was stolen. I am in Rome.',
    ],
    ['a French request', 'Ma carte est perdue. Merci de la bloquer.', 'Ma carte est perdue. Merci de la bloquer.'],
    [
      'a place that is asked for',
      'I have moved.\nThe branch, 18055 Rostock',
      'I have moved. The branch, 18055 Rostock',
    ],
  ])('%s is no signature', (_, message, text) => {
    expect(askedIn(message).at(-1)?.text).toBe(text);
  });

  it('parts the questions that a sentence joins, and keeps those that name enough', () => {
    const [{ readings }] = askedIn('How do I freeze my card, and what does a new card by post cost?');
    expect(readings.map(({ questions }) => questions)).toEqual([
      [
        'How do I freeze my card, and what does a new card by post cost?',
        'how do i freeze my card',
        'and what does a new card by post cost?',
      ],
    ]);
  });

  it('does not part a question from its condition', () => {
    const message = 'If I lose my yacht at sea, what does the travel insurance pay?';
    expect(askedIn(message).flatMap(({ readings }) => readings)).toEqual([{ text: message, questions: [message] }]);
  });

  it.each<[string, string, string[][]]>([
    ['what asks and names enough; then all', `I live in Rostock. ${debit}`, [[debit], [`I live in Rostock. ${debit}`]]],
    [
      'what asks and names little, and all',
      'I live in Rostock. Any bitcoins?',
      [['Any bitcoins?'], ['I live in Rostock. Any bitcoins?']],
    ],
    [
      'what is told, where what asks names nothing',
      'What can I do? My card was stolen. I am in Rome.',
      [['I am in Rome.'], ['My card was stolen.', 'I am in Rome.', 'What can I do? My card was stolen. I am in Rome.']],
    ],
    [
      'what is told, where nothing asks',
      'A shop charged me twice. It refuses to answer.',
      [
        ['It refuses to answer.'],
        ['A shop charged me twice.', 'It refuses to answer.', 'A shop charged me twice. It refuses to answer.'],
      ],
    ],
    ['no text twice', 'My card was stolen. What now?', [['My card was stolen. What now?', 'My card was stolen.']]],
  ])('reads %s', (_, message, readings) => {
    expect(askedIn(message).map((asking) => asking.readings.map(({ text }) => text))).toEqual(readings);
  });

  it('looks at a bounded number of questions, or of sentences in place of them', () => {
    expect(askedIn(`${debit} `.repeat(50))[0].readings[0]?.questions).toHaveLength(8);
    expect(askedIn('My card was stolen. '.repeat(50))[1]?.readings).toHaveLength(9);
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

  it('reads it with all that was said where it is not known what was asked', () => {
    const told = [{ role: 'customer', body: 'Hello! My card was stolen. It happened in Rome.' }];
    expect(contextualize('Any advice?', told)).toBe('Any advice – My card was stolen. It happened in Rome.');
  });

  it('puts the question first, as one with what was asked before and without what was told', () => {
    const told = 'I ask because I have much to tell you. '.repeat(40);
    const long = [{ role: 'customer', body: `${told}What does the gold card cost? ${told}` }];
    expect(contextualize('And for students?', long)).toBe('And for students – What does the gold card cost?');
  });
});
