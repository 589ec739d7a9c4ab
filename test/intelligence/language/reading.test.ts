/**
 * Without embeddings, messages are classified by their words. That is less accurate, but courtesies and requests for a
 * person are recognized.
 */
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Turns } from '../../../intelligence/intelligence.ts';
import { readMessage } from '../../../intelligence/offline/language/reading.ts';
import { ownSentences } from '../../../models/rules/language/escalation.ts';
import { classify, likeliest } from '../../../intelligence/offline/language/classifier.ts';
import { languages, languageOf } from '../../../models/rules/language/language.ts';
import { readByWords } from '../../../intelligence/offline/language/question.ts';
import { readTables, type Outcome } from '../../kit/reading.ts';

const embedding = { local: undefined, model: undefined };
const intentOf = (text: string) => readByWords(text).intent;

describe('classification by words', () => {
  let tables: Record<string, Outcome>;
  beforeAll(async () => void (tables = await readTables(embedding)));

  it.each([
    ['calls', 0.85],
    ['calls in capitals', 0.85],
    ['the language of calls', 0.97],
    ['no calls', 0.8],
    ['courtesies', 0.97],
    ['questions', 0.97],
    ['what is searched for', 0.85],
  ])(
    'in the test table “%s”, at least a share of %d of the messages is classified correctly by words alone',
    (name, least) => {
      const { size, wrong } = tables[name]!;
      expect({ name, wrong: size - wrong.length >= least * size ? [] : wrong }).toEqual({ name, wrong: [] });
    },
  );

  it('a message is classified by its words when embeddings fail', async () => {
    const failing = { model: 'm', local: { reading: async () => Promise.reject(new Error('gone')) } };
    const message = await readMessage({ embedding: failing }, 'Ich möchte mit einem Mitarbeiter sprechen', []);
    expect(message).toMatchObject({ intent: 'person', language: 'de', degraded: true });
  });

  it('a greeting or thanks that contains a question, or is long, counts as a question', () => {
    expect(intentOf('Hello! What does the card cost?')).toBe('question');
    expect(intentOf(`Thanks. ${'I thank you and everybody at the bank very much. '.repeat(5)}`)).toBe('question');
  });

  it('a single unknown word counts as a question, and a known word such as “help” gets the intent of that word', () => {
    expect(['IBAN?', 'Zertifikat?', 'help', 'hello'].map(intentOf)).toEqual([
      'question',
      'question',
      'help',
      'greeting',
    ]);
  });

  it('a message of question marks alone counts as a question, but question marks after a greeting or thanks change nothing', () => {
    expect(['???', '?', '?!', '؟', 'Hello ???', 'Thanks! ?'].map(intentOf)).toEqual([
      'question',
      'question',
      'question',
      'question',
      'greeting',
      'thanks',
    ]);
  });

  it('only the beginning of a message is classified', () => {
    expect(intentOf(`${'Thanks. '.repeat(10)}I want to talk to a human`)).toBe('person');
    expect(intentOf(`${'Thanks. '.repeat(400)}I want to talk to a human`)).not.toBe('person');
  });

  it.each([
    'talk to ',
    'please ',
    'and ',
    'human ',
    ', ',
    '?',
    'mit einem ',
    'svp ',
    ' - ',
    '¿',
    'é',
    '👍',
    '\u0000',
    '\n',
  ])('a message that repeats %j is classified in linear time', (part) => {
    for (const text of [part.repeat(5_000), `i want to talk to a ${part.repeat(5_000)}`])
      expect(likeliest(classify(text))).toEqual(expect.any(String));
    expect(readByWords(part.repeat(5_000)).askings.length).toBeGreaterThan(0);
  });

  it.each(languages)('a plain request to talk to a person is understood in %s', async (language) => {
    const offered = {
      en: 'I would like to talk to a person',
      de: 'Ich möchte mit einer Person sprechen',
      fr: 'Je voudrais parler à une personne',
      es: 'Quiero hablar con una persona',
      it: 'Vorrei parlare con una persona',
      pt: 'Quero falar com uma pessoa',
      nl: 'Ik wil een mens spreken',
      pl: 'Chcę rozmawiać z człowiekiem',
    };
    expect(ownSentences.notFound[language]).not.toBe('');
    expect(languageOf(offered[language])).toBe(language);
    expect(intentOf(offered[language])).toBe('person');
  });
});

describe('a follow-up message', () => {
  const asked = { role: 'customer', body: 'What does the gold card cost?' };
  const read = async (text: string, history: { role: string; body: string }[]) =>
    (await readMessage({ embedding }, text, history)).searched;

  it('without embeddings, the search for a follow-up uses its words and then the previous question', async () => {
    expect(await read('And for students?', [asked, { role: 'ai', body: '49 EUR.' }])).toBe(
      'And for students – What does the gold card cost?',
    );
    expect(await read('And for students?', [])).toBe('And for students?');
    expect(await read('How do I block a stolen card?', [asked])).toBe('How do I block a stolen card?');
  });

  it('with embeddings, a follow-up is searched as written, with the previous turns as context', async () => {
    const history = [asked, { role: 'system', body: 'Ann joined.' }, { role: 'ai', body: '49 EUR.' }];
    const withModel = { embedding: { local: undefined, model: 'endpoint:m' } };
    const message = await readMessage(withModel, 'And for students?', history);
    expect(message).toMatchObject({ searched: 'And for students?', context: ['49 EUR.', asked.body] });
    for (const told of [{ offers: [{}] }, { record: { generated_by: 'fixed' } }]) {
      const before = [asked, { role: 'ai', body: 'This may help', ...told }] as Turns;
      expect((await readMessage(withModel, 'And for students?', before)).context).toEqual([asked.body]);
    }
    expect((await readMessage({ embedding }, 'And for students?', history)).context).toEqual([]);
  });

  it('a follow-up refers to the last question, even when the customer has said thanks since then', async () => {
    expect(await read('And for students?', [asked, { role: 'customer', body: 'Thanks!' }])).toContain('gold card');
  });

  it('only the question of a long previous message is added to the search for a follow-up', async () => {
    const told = 'I am telling you this because it happened to me. '.repeat(40);
    const before = { role: 'customer', body: `What does the gold card cost? ${told}` };
    expect((await read('And for students?', [before])).length).toBeLessThan(500);
  });
});

describe('the questions of a message', () => {
  it('a sentence that joins two questions is searched whole and in its two parts', () => {
    const [{ readings }] = readByWords('How do I freeze my card, and what does a new card by post cost?').askings;
    expect(readings.map(({ questions }) => questions)).toEqual([
      [
        'How do I freeze my card, and what does a new card by post cost?',
        'how do i freeze my card',
        'and what does a new card by post cost?',
      ],
    ]);
  });

  it('a question is not split from its condition', () => {
    const message = 'If I lose my yacht at sea, what does the travel insurance pay?';
    expect(readByWords(message).askings.flatMap(({ readings }) => readings)).toEqual([
      { text: message, questions: [message] },
    ]);
  });

  it('the search uses at most eight of the questions in a message', () => {
    const debit = 'How many weeks do I have to return a direct debit?';
    expect(readByWords(`${debit} `.repeat(50)).askings[0].readings[0]?.questions).toHaveLength(8);
  });
});
