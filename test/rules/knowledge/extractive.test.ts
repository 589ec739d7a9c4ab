import { describe, expect, it } from '@jest/globals';
import { extract, maxQuotes } from '../../../models/rules/knowledge/extractive.ts';
import type { Source } from '../../../models/rules/knowledge/extractive.ts';

const fees: Source = {
  id: 'fees',
  heading: 'Price list > Cards',
  text: 'Product: Gold card; Annual fee: 49 EUR; Limit: 5,000 EUR\nProduct: Silver card; Annual fee: 19 EUR; Limit: 1,000 EUR\nProduct: Replacement card; Price: 10 EUR',
};
const lost: Source = {
  id: 'lost',
  heading: 'Cards > Lost card',
  text: 'If you lose your card, do this at once:\n\n1. Lock it in the app.\n2. Call the hotline on +49 30 5550 116.\n3. Order a new one.\n\nThe lock can be lifted within 48 hours. Deposits are not touched.',
};
const transfers: Source = {
  id: 'transfers',
  heading: 'Payments > Transfers abroad',
  text: 'Transfers within the euro area, e.g. to France, take one working day. Transfers to other countries take up to four days. Our branches open at nine. No fee is charged for Dr. Smith.',
};

describe('extract', () => {
  it('answers with the one row that is asked for, word for word, not with its neighbours', () => {
    expect(extract('What is the annual fee of the gold card?', [lost, fees])).toEqual({
      text: 'Product: Gold card; Annual fee: 49 EUR; Limit: 5,000 EUR',
      quotes: [{ id: 'fees', text: 'Product: Gold card; Annual fee: 49 EUR; Limit: 5,000 EUR' }],
      used: ['fees'],
    });
  });

  it('gives the steps that a sentence introduces, in their order', () => {
    const answer = extract('What should I do when I lost or lose my card?', [lost]);
    expect(answer?.text).toBe(
      'If you lose your card, do this at once:\n1. Lock it in the app.\n2. Call the hotline on +49 30 5550 116.\n3. Order a new one.',
    );
  });

  const steps = (count: number, more = ''): Source => ({
    id: 'steps',
    heading: 'Router',
    text: `To reset the router do this:\n\n${Array.from({ length: count }, (_, at) => `${at + 1}. Press key ${at + 1}${more}.`).join('\n')}\n\nThe router is grey.`,
  });

  it('gives all steps of a list, however many there are', () => {
    const answer = extract('How do I reset the router?', [steps(12)]);
    expect(answer?.quotes.map(({ text }) => text)).toEqual([
      'To reset the router do this:',
      ...Array.from({ length: 12 }, (_, at) => `${at + 1}. Press key ${at + 1}.`),
    ]);
  });

  it('says so when a list is too long to be given whole', () => {
    const answer = extract('How do I reset the router?', [steps(40, ` ${'firmly and with patience '.repeat(6)}`)]);
    expect(answer?.text).toMatch(/^To reset the router do this:\n1\. [^]*\n…$/u);
    expect(answer?.quotes.length).toBeGreaterThan(maxQuotes);
    expect(answer?.text.length).toBeLessThan(2_200);
  });

  it('does not cut a sentence at an abbreviation', () => {
    expect(extract('How long do transfers within the euro area take?', [transfers])?.quotes[0]?.text).toBe(
      'Transfers within the euro area, e.g. to France, take one working day.',
    );
  });

  it('prefers the form that the question asks for: a price to a step, a number to a sentence', () => {
    expect(extract('How much is a replacement card?', [lost, fees])?.quotes[0]?.id).toBe('fees');
    expect(extract('What is the phone number of the hotline?', [fees, lost])?.text).toContain('+49 30 5550 116');
  });

  it('invents nothing: every quote stands in its source, and the answer is made of the quotes', () => {
    const sources = [fees, lost, transfers];
    for (const question of [
      'gold card fee',
      'lost card',
      'How long does a transfer take?',
      'branches open',
      'card',
      'fee',
      'limit of silver card?',
    ]) {
      const answer = extract(question, sources);
      expect(answer).toBeDefined();
      for (const quote of answer?.quotes ?? [])
        expect(sources.find(({ id }) => id === quote.id)?.text).toContain(quote.text);
      const rest = (answer?.quotes ?? []).reduce((text, quote) => text.replace(quote.text, ''), answer?.text ?? '');
      expect(rest.trim()).toBe('');
      expect(answer?.quotes.length).toBeLessThanOrEqual(maxQuotes);
      expect(answer?.used).toEqual([...new Set(answer?.quotes.map(({ id }) => id))]);
    }
  });

  it('uses the heading that a sentence stands under', () => {
    const hours: Source = {
      id: 'hours',
      heading: 'Opening hours in Dresden',
      text: 'Monday to Friday from nine to four. Closed at weekends.',
    };
    expect(extract('When is the bank open in Dresden?', [transfers, hours])?.quotes[0]).toEqual({
      id: 'hours',
      text: 'Monday to Friday from nine to four.',
    });
  });

  it('says the same sentence once', () => {
    const copy = { ...transfers, id: 'copy' };
    const answer = extract('transfers to other countries', [transfers, copy]);
    expect(new Set(answer?.quotes.map(({ text }) => text)).size).toBe(answer?.quotes.length);
  });

  it.each(['', 'how much is it?', 'bitcoin', '\u0000', '😀'])('has no answer to %j', (question) => {
    expect(extract(question, [fees, lost, transfers])).toBeUndefined();
  });

  it.each([
    ['a question that nothing follows', 'What is the overdraft rate?', 'Questions', 'What is the overdraft rate?'],
    [
      'a question that another one follows',
      'What is the overdraft rate?',
      'Questions',
      'What is the overdraft rate?\n\nHow is interest paid?',
    ],
    ['a list of questions', 'overdraft rate?', '', '- What is the overdraft rate?\n- What is the interest rate?'],
    ['an introduction that nothing follows', 'the overdraft rates', '', 'These are the overdraft rates:'],
    ['a title in the words of the question', 'What is the overdraft rate?', 'Fees', 'The overdraft rate'],
    ['a title that its heading says already', 'overdraft?', 'Fees > Overdraft rates', 'Overdraft rates'],
  ])('takes %s for no answer', (_label, question, heading, text) => {
    expect(extract(question, [{ id: 'a', heading, text }])).toBeUndefined();
  });

  it('passes over a bare title for the passage that answers', () => {
    const title: Source = { id: 'title', heading: 'Questions', text: 'What is the overdraft rate?' };
    const rate: Source = { id: 'rate', heading: 'Fees', text: 'The overdraft rate is 9.9 percent.' };
    expect(extract('What is the overdraft rate?', [title, rate])).toMatchObject({ text: rate.text, used: ['rate'] });
  });

  it.each([
    ['Is the account free?', 'Questions', 'The account is free.'],
    ['When are you open?', 'Opening hours', 'Open Monday to Friday'],
    ['Is there a branch in Berlin?', 'Branches', '- Berlin\n- Hamburg'],
    ['Is the gold card free?', 'Fees', 'Gold card: free'],
    ['Can I have two cards?', 'FAQ', 'Can I have two cards?\nYes, up to three'],
  ])('%s: a short answer is one', (question, heading, text) => {
    expect(extract(question, [{ id: 'a', heading, text }])).toBeDefined();
  });

  it('has no answer from nothing, and bounds a sentence without end', () => {
    expect(extract('gold card', [])).toBeUndefined();
    expect(extract('gold card', [{ id: 'a', heading: '', text: '' }])).toBeUndefined();
    const text = `The gold card ${'is very '.repeat(500)}golden`;
    const answer = extract('gold card', [{ id: 'a', heading: '', text }]);
    expect(answer?.text.length).toBeLessThanOrEqual(601);
    expect(answer?.text).toMatch(/…$/u);
  });
});
