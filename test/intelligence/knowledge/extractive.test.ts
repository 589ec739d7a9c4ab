import { describe, expect, it } from '@jest/globals';
import { maxQuotes } from '../../../intelligence/offline/knowledge/choosing.ts';
import { extract, wordsSuffice } from '../../../intelligence/offline/knowledge/extractive.ts';
import type { Source } from '../../../intelligence/offline/knowledge/extractive.ts';

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
  it('an extracted answer contains only the requested row and column of a table', () => {
    expect(extract('What is the annual fee of the gold card?', [lost, fees])).toEqual({
      text: 'Gold card – Annual fee: 49 EUR',
      quotes: [{ id: 'fees', text: 'Product: Gold card; Annual fee: 49 EUR; Limit: 5,000 EUR' }],
      used: ['fees'],
    });
  });

  it('an answer gives the steps after their introducing sentence in order', () => {
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

  it('an answer gives all steps of a list', () => {
    const answer = extract('How do I reset the router?', [steps(12)]);
    expect(answer?.quotes.map(({ text }) => text)).toEqual([
      'To reset the router do this:',
      ...Array.from({ length: 12 }, (_, at) => `${at + 1}. Press key ${at + 1}.`),
    ]);
  });

  it('an answer marks with an ellipsis that a list is too long to be given whole', () => {
    const answer = extract('How do I reset the router?', [steps(40, ` ${'firmly and with patience '.repeat(6)}`)]);
    expect(answer?.text).toMatch(/^To reset the router do this:\n1\. [^]*\n…$/u);
    expect(answer?.quotes.length).toBeGreaterThan(maxQuotes);
    expect(answer?.text.length).toBeLessThan(2_200);
  });

  it('a list that goes on in the next passage ends with an ellipsis, and a repeated question gets the rest', () => {
    const part = (at: number, text: string): Source => ({ id: `a:1:${at}`, heading: 'Router', text });
    const text = (from: number): string => [from, from + 1].map((at) => `${at}. Press key ${at}.`).join('\n');
    const sources = [part(4, text(5)), part(2, `To reset the router do this:\n\n${text(1)}`), part(3, text(3))];
    const said: string[] = [];
    for (const answer of [
      `To reset the router do this:\n${text(1)}\n…`,
      `Router:\n${text(3)}\n…`,
      `Router:\n${text(5)}`,
      'My documents say no more about this than what I have written above.',
    ]) {
      const found = extract('How do I reset the router?', sources, { said, language: 'en' })?.text;
      expect(found).toBe(answer);
      said.push(answer);
    }
    const other = { ...part(3, text(3)), heading: 'Printer' };
    expect(extract('How do I reset the router?', [sources[1]!, other])?.text).not.toContain('…');
  });

  it.each([
    [
      'Can I cancel my booking?',
      'Can I cancel my booking? Yes, free of charge. From 24 hours before arrival the full price is due.',
      'Can I pay later? No.',
    ],
    ['Can I cancel my order?', 'Can I cancel my order? Yes. Not once the parcel has left.', 'We sell shoes.'],
    [
      'Are transfers free?',
      'Domestic transfers are free. Transfers within the EU are free, too. However, this does not apply to payments at the counter.',
      'We are a bank.',
    ],
  ])('the answer to %j includes the exception behind the sentence that answers', (question, text, next) => {
    expect(extract(question, [{ id: 'a', heading: '', text: `${text}\n\n${next}` }])?.text).toBe(text);
  });

  it('a question of a FAQ is answered with the list that its answer introduces', () => {
    const text = 'Can I pay?\n\nYes, in two ways:\n\n- by card\n- in cash\n\nCan I cancel?\n\nNo.';
    expect(extract('Can I pay?', [{ id: 'a', heading: '', text }])?.text).toBe(
      'Can I pay? Yes, in two ways:\n- by card\n- in cash',
    );
  });

  it.each([
    ['Items you cannot return', '- Underwear\n- Gift cards', 'Items you cannot return:\n- Underwear\n- Gift cards'],
    [
      'Returns',
      'We never take this back.\n\n- Underwear\n- Gift cards',
      'We never take this back.\n- Underwear\n- Gift cards',
    ],
    ['Underwear', '- Underwear: no return\n- Gift cards', '- Underwear: no return\n- Gift cards'],
    [
      'Goods until 31 December 2025',
      'Goods: Underwear; Return: free\nGoods: Shoes; Return: 5 EUR',
      'Goods until 31 December 2025: Underwear – Return: free',
    ],
  ])('under the heading %j, an answer has the heading or introduction of the quoted %j', (heading, text, answer) => {
    expect(extract('Can I return underwear?', [{ id: 'a', heading, text }])?.text).toBe(answer);
  });

  it('an extracted sentence does not end at an abbreviation', () => {
    expect(extract('How long do transfers within the euro area take?', [transfers])?.quotes[0]?.text).toBe(
      'Transfers within the euro area, e.g. to France, take one working day.',
    );
  });

  it('a question for a price or number is answered from a passage that contains a price or number', () => {
    expect(extract('How much is a replacement card?', [lost, fees])?.quotes[0]?.id).toBe('fees');
    expect(extract('What is the phone number of the hotline?', [fees, lost])?.text).toContain('+49 30 5550 116');
  });

  it('every quote occurs in its source, and the answer consists of quotes, column names and headings', () => {
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
      const parts = (answer?.quotes ?? []).flatMap(({ text }) => [text, ...text.split(/; |: /u)]);
      const headings = sources.map(({ heading }) => heading.split(' > ').at(-1)!);
      const rest = [...parts, ...headings].reduce((text, part) => text.replace(part, ''), answer?.text ?? '');
      expect(rest).toMatch(/^[\s–:;]*$/u);
      expect(answer?.quotes.length).toBeLessThanOrEqual(maxQuotes);
      expect(answer?.used).toEqual([...new Set(answer?.quotes.map(({ id }) => id))]);
    }
  });

  it('a sentence is found by the words of its heading', () => {
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

  it('an answer does not repeat a sentence that occurs in two sources', () => {
    const copy = { ...transfers, id: 'copy' };
    const answer = extract('transfers to other countries', [transfers, copy]);
    expect(new Set(answer?.quotes.map(({ text }) => text)).size).toBe(answer?.quotes.length);
  });

  it.each(['', 'how much is it?', 'bitcoin', '\u0000', '😀'])(
    'no answer is extracted for the question %j',
    (question) => {
      expect(extract(question, [fees, lost, transfers])).toBeUndefined();
    },
  );

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
  ])('a passage with only %s gives no answer', (_label, question, heading, text) => {
    expect(extract(question, [{ id: 'a', heading, text }])).toBeUndefined();
  });

  it('a passage that only repeats the question is skipped, and a passage with the answer is quoted', () => {
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
  ])('the question %j is answered by a short passage under the heading %j', (question, heading, text) => {
    expect(extract(question, [{ id: 'a', heading, text }])).toBeDefined();
  });

  it('no answer is extracted without sources or text, and an endless sentence is shortened', () => {
    expect(extract('gold card', [])).toBeUndefined();
    expect(extract('gold card', [{ id: 'a', heading: '', text: '' }])).toBeUndefined();
    const text = `The gold card ${'is very '.repeat(500)}golden`;
    const answer = extract('gold card', [{ id: 'a', heading: '', text }]);
    expect(answer?.text.length).toBeLessThanOrEqual(601);
    expect(answer?.text).toMatch(/…$/u);
  });

  it('a list is given whole with its introduction, even when only one step was asked for', () => {
    expect(extract('order a new card', [lost])?.text).toBe(
      'If you lose your card, do this at once:\n1. Lock it in the app.\n2. Call the hotline on +49 30 5550 116.\n3. Order a new one.',
    );
  });

  it('a long list of items gives only the items that were asked for', () => {
    const towns = Array.from({ length: 30 }, (_, at) => `- Town ${at}, Market Street ${at}`);
    const text = `We have branches in these towns:\n\n- Berlin, Linden Street 1\n${towns.join('\n')}`;
    expect(extract('Linden Street in Berlin', [{ id: 'a', heading: 'Branches', text }])?.text).toBe(
      'We have branches in these towns:\n- Berlin, Linden Street 1',
    );
  });

  it('an answer quotes sentences of only one passage', () => {
    const other: Source = { id: 'other', heading: 'Cards', text: 'A card can be lost. Cards are made of maple.' };
    expect(extract('If I lose my card, what to do at once?', [lost, other])?.used).toEqual(['lost']);
  });

  it('an answer quotes a sentence that refers back (“It pays …”) together with the sentence before', () => {
    const text = 'Standing orders run monthly. The young save with the piggy account. It pays 2 percent interest.';
    expect(extract('interest percent', [{ id: 'a', heading: 'Saving', text }])?.text).toBe(
      'The young save with the piggy account. It pays 2 percent interest.',
    );
  });

  it.each([
    [
      'It arrives within ten seconds.',
      'Payments > Instant transfers',
      'How fast do they arrive?',
      'Instant transfers: ',
    ],
    ['Monday to Friday from nine to four', 'Opening hours', 'Open on Friday?', 'Opening hours: '],
    ['Dies ist kostenlos.', 'Konto > Kündigung', 'kostenlos?', 'Kündigung: '],
    ['The fee is 3 EUR.', 'Fees', 'What is the fee?', ''],
    ['Open on Friday until four.', 'When are you open?', 'open on Friday', ''],
  ])(
    'the sentence %j under the heading %j is prefixed with the heading only when the sentence is unclear without it',
    (text, heading, question, before) => {
      expect(extract(question, [{ id: 'a', heading, text }])?.text).toBe(`${before}${text}`);
    },
  );

  describe('extract from a table', () => {
    const plans: Source = {
      id: 'plans',
      heading: 'Plans',
      text:
        'Plan: Plus; Price: 4.90 EUR; Charged: per month; Valid from: 2026-01-01; Note: free under 27\n' +
        'Plan: Start; Price: 0.00 EUR; Charged: per month; Valid from: 2025-01-01',
    };
    it('an answer gives a value from a table together with its unit', () => {
      const text = 'Service: Overdraft interest; Price: 13.45%; Charged: per year; Valid from: 2026-03-01';
      const closeness = new Map([
        ['Price', 0.1],
        ['Charged', 0.4],
      ]);
      const answer = extract('overdraft rate', [{ id: 'fees', heading: 'Fees', text }], { closeness });
      expect(answer?.text).toBe('Overdraft interest – Price: 13.45%; Charged: per year');
    });

    it('an answer gives a price from a table together with its unit and its note', () => {
      expect(extract('What is the price of Plus?', [plans])?.text).toBe(
        'Plus – Price: 4.90 EUR; Charged: per month; Note: free under 27',
      );
    });
    const branches = (count: number): Source => ({
      id: 'branches',
      heading: 'Branches',
      text: Array.from(
        { length: count },
        (_, at) => `Branch: ${['Old Market', 'Harbour', 'Station'][at] ?? at}; Town: Jena; Saturday: ${8 + at}:00`,
      ).join('\n'),
    });
    it('a question about all rows of a table is answered with every row', () => {
      expect(extract('Which branches are open on Saturday?', [branches(3)])?.text).toBe(
        'Old Market – Saturday: 8:00\nHarbour – Saturday: 9:00\nStation – Saturday: 10:00',
      );
    });
    it('an answer gives at most eight table rows and marks further rows with an ellipsis', () => {
      const answer = extract('Which branches are open on Saturday?', [branches(9)]);
      expect([answer?.quotes.length, answer?.text.endsWith('\n…')]).toEqual([8, true]);
    });
    it('an answer with several table rows ends with an ellipsis when the table continues in another passage', () => {
      const parts = (count: number) =>
        branches(count)
          .text.split('\n')
          .map((text, at) => ({ ...branches(1), id: `branches:${at}`, text }));
      const answer = (question: string, count: number) => extract(question, parts(count))?.text;
      const saturday = 'Which branches are open on Saturday?';
      expect(answer(saturday, 2)).toBe('Old Market – Saturday: 8:00\nHarbour – Saturday: 9:00');
      expect(answer(saturday, 3)).toBe('Old Market – Saturday: 8:00\nHarbour – Saturday: 9:00\n…');
      // One row answers, whatever else the table has.
      expect(answer('When is Harbour open on Saturday?', 6)).toBe('Harbour – Saturday: 9:00');
    });
    it('an answer gives a table row with all its columns when the question names no column', () => {
      expect(extract('Start plan', [{ ...plans, text: plans.text.replaceAll('Plan:', 'Kind:') }])?.text).toBe(
        'Start – Price: 0.00 EUR; Charged: per month; Valid from: 2025-01-01',
      );
    });
    it('a table value that contains semicolons and colons stays one value', () => {
      const text =
        'Result: Close match; Meaning: The name is nearly right; the app shows it: always; To do: Check it\n' +
        'Result: No match; Meaning: Somebody else; To do: Stop';
      expect(extract('What is the meaning of close match?', [{ id: 'a', heading: 'Results', text }])?.text).toBe(
        'Close match – Meaning: The name is nearly right; the app shows it: always',
      );
    });
    it('the column of a table is found by embeddings when the question is in another language', () => {
      const closeness = new Map([
        ['Price', 0.6],
        ['Charged', 0.3],
        ['Valid from', 0.1],
        ['Note', 0.1],
        [plans.text.split('\n')[0]!, 0.5],
      ]);
      expect(extract('Was kostet das?', [plans], { closeness, language: 'de' })?.text).toBe(
        'Unsere Dokumente sagen dazu in einer anderen Sprache:\nPlus – Price: 4.90 EUR; Charged: per month; Note: free under 27',
      );
    });
    it('a question for a price always gets the price column, even when another column has a closer vector', () => {
      const closeness = new Map([
        ['Charged', 0.6],
        ['Price', 0.2],
        [plans.text.split('\n')[0]!, 0.5],
      ]);
      expect(extract('Was kostet das?', [plans], { closeness })?.text).toContain('Price: 4.90 EUR');
    });
    it('a line of names and values between other paragraphs is quoted with its first name', () => {
      const text = 'We are in Jena.\n\nMonday: closed; Tuesday: 9 to 17\n\nCall us.';
      expect(extract('Is Tuesday open?', [{ id: 'a', heading: 'Tuesday', text }])?.text).toBe(
        'Monday: closed; Tuesday: 9 to 17',
      );
    });
    it('running text with semicolons and colons is not taken for a table row', () => {
      const text =
        'Compare the rate with the public one of the day; a difference of 0.3 percent is normal. If it is worse, look at the receipt: then the shop converted; it says so.';
      const found = extract('Which difference is normal?', [{ id: 'a', heading: 'The amount looks wrong', text }]);
      expect(found?.quotes[0]?.text).toBe(
        'Compare the rate with the public one of the day; a difference of 0.3 percent is normal.',
      );
      expect(found?.text).toContain('of the day; a difference');
    });
    it('a question that matches a row of a table of questions and answers is answered with the row’s answer cell', () => {
      const text = 'Question: Can I have two cards?; Answer: Yes, up to three\nQuestion: Can I pay in USD?; Answer: No';
      expect(extract('two cards', [{ id: 'a', heading: 'FAQ', text }])?.text).toBe('Answer: Yes, up to three');
    });
  });

  describe('extract from documents that disagree', () => {
    const old = { id: 'old', source_id: 'old', name: 'fees-2025.md', heading: 'Fees', dated: new Date(1) };
    const fresh = { id: 'new', source_id: 'new', name: 'fees-2026.md', heading: 'Fees', dated: new Date(2) };
    it.each([
      ['sentences', 'The gold card costs 49 EUR a year.', 'The gold card costs 59 EUR a year.', ''],
      [
        'rows',
        'Card: Gold; Fee: 49 EUR\nCard: Silver; Fee: 19 EUR',
        'Card: Gold; Fee: 59 EUR\nCard: Silver; Fee: 19 EUR',
        'Gold – Fee: 59 EUR',
      ],
    ])(
      'when two documents disagree, the answer gives the newer number and mentions the conflict: %s',
      (_label, before, after, row) => {
        for (const sources of [
          [
            { ...old, text: before },
            { ...fresh, text: after },
          ],
          [
            { ...fresh, text: after },
            { ...old, text: before },
          ],
        ]) {
          const answer = extract('What does the gold card cost, what is the fee?', sources);
          expect(answer?.text).toBe(`${row || after}\n(From “fees-2026.md”; the older “fees-2025.md” says otherwise.)`);
          expect(answer?.used).toEqual(['new']);
        }
      },
    );
    it('a conflict is not mentioned when it is unknown which document is newer', () => {
      const answer = extract('What does the gold card cost?', [
        { id: 'old', source_id: 'old', heading: 'Fees', text: 'The gold card costs 49 EUR a year.' },
        { ...fresh, text: 'The gold card costs 59 EUR a year.' },
      ]);
      expect(answer?.text).toBe('The gold card costs 49 EUR a year.');
    });
    it('the note about two documents that disagree names the titles of both', () => {
      const answer = extract('What does the gold card cost?', [
        { ...old, title: 'Fees 2025', text: 'The gold card costs 49 EUR a year.' },
        { ...fresh, title: 'Fees 2026', text: 'The gold card costs 59 EUR a year.' },
      ]);
      expect(answer?.text).toMatch(/\n\(From “Fees 2026”; the older “Fees 2025” says otherwise\.\)$/u);
    });
    it('a conflict between documents is found even when their headings differ in a number or in upper levels', () => {
      const answer = extract('What does the gold card cost?', [
        { ...old, heading: 'Prices of 2025 > Fees 2025', text: 'The gold card costs 49 EUR a year.' },
        { ...fresh, heading: 'Prices of 2026 > Fees 2026:', text: 'The gold card costs 59 EUR a year.' },
      ]);
      expect(answer?.used).toEqual(['new']);
    });
    it('the same sentence with another number under another heading is not a conflict', () => {
      const answer = extract('How long does standard delivery to Germany take?', [
        { ...old, heading: 'Delivery to Germany', text: 'Standard delivery takes 3 working days.' },
        { ...fresh, heading: 'Delivery to France', text: 'Standard delivery takes 5 working days.' },
      ]);
      expect(answer?.text).toContain('3 working days');
      expect(answer?.text).not.toContain('older');
      expect(answer?.used).toEqual(['old']);
    });
    it.each<[string, [heading: string, text: string], [heading: string, text: string]]>([
      [
        'sentences under the headings of two products',
        ['Gold card > Fees', 'The yearly fee is 49 EUR.'],
        ['Silver card > Fees', 'The yearly fee is 19 EUR.'],
      ],
      [
        'rows of two variants of a product',
        ['Fees', 'Card: Gold card; Kind: private; Yearly fee: 49 EUR'],
        ['Fees', 'Card: Gold card; Kind: business; Yearly fee: 109 EUR'],
      ],
      [
        'a row that the newer document also has',
        ['Fees', 'Card: Gold card; Limit: 10; Yearly fee: 49 EUR'],
        ['Fees', 'Card: Gold card; Limit: 20; Yearly fee: 109 EUR\nCard: Gold card; Limit: 10; Yearly fee: 49 EUR'],
      ],
      [
        'a number with and without a separator',
        ['Fees', 'The yearly fee is 1,000 EUR.'],
        ['Fees', 'The yearly fee is 1000 EUR.'],
      ],
    ])('no conflict between documents is reported about %s', (_label, before, after) => {
      const answer = extract('What is the yearly fee of the gold card?', [
        { ...old, heading: before[0], text: before[1] },
        { ...fresh, heading: after[0], text: after[1] },
      ]);
      expect(answer?.text).toContain(before[1].includes('1,000') ? '1,000' : '49 EUR');
      expect(answer?.text).not.toContain('older');
    });
    it('of several statements in the newer document that disagree, the one closest to the question is quoted', () => {
      const answer = extract('What is the fee of the gold card online, with delivery?', [
        { ...old, text: 'Card: Gold; Fee: 49 EUR; Place: online; Note: with delivery' },
        { ...fresh, text: 'Card: Gold; Fee: 69 EUR; Sold: always\nCard: Gold; Fee: 59 EUR; Sold: online' },
      ]);
      expect(answer?.text).toMatch(/^Gold – Fee: 59 EUR; Sold: online\n\(From/u);
    });
    it('a newer document’s price of another product is not reported as a conflict', () => {
      const answer = extract('What does the gold card cost?', [
        { ...old, text: 'The gold card costs 49 EUR a year.' },
        { ...fresh, text: 'The business gold card costs 99 EUR a year.' },
      ]);
      expect(answer?.text).toBe('The gold card costs 49 EUR a year.');
    });
  });

  describe('extract for a follow-up', () => {
    const question = 'What does the heron card cost?';
    const heron: Source = {
      id: 'heron',
      heading: 'Heron card',
      text: 'The heron card costs 12 EUR a year, which is taken from the account of its owner on the first working day of every January, without notice. It is free for students.\n\nA replacement takes two days.',
    };
    it('a repeated question gets the rest of the passage, and after that the reply that the documents say no more', () => {
      const said: string[] = [];
      const next = () => {
        const { text, used } = extract(question, [heron], { said, language: 'en' })!;
        expect(used).toEqual(['heron']);
        said.push(text);
        return text;
      };
      expect(next()).toMatch(/^The heron card costs 12 EUR/u);
      expect(next()).toBe('Heron card: A replacement takes two days.');
      expect(next()).toBe('My documents say no more about this than what I have written above.');
      expect(new Set(said).size).toBe(said.length);
    });
    it('a repeated question gets another answer even when the first answer quoted two passages', () => {
      const closeness = new Map([['The heron card costs 12 EUR a year.', 0.5]]);
      const first = extract(question, [heron, lost], { closeness })!.text;
      expect(extract(question, [heron, lost], { closeness, said: [first] })?.text).not.toBe(first);
    });
    it('a follow-up about one sentence of the previous answer is answered with that sentence', () => {
      const asked = `And for students? – ${question}`;
      const before = extract(question, [heron])!.text;
      expect(extract(asked, [heron], { said: [before], own: 'And for students?' })?.text).toBe(
        'Heron card: It is free for students.',
      );
    });
    it('a follow-up about a table row is answered with the other columns of that row', () => {
      const asked = 'What is the annual fee of the gold card?';
      const said = [extract(asked, [fees])!.text];
      expect(extract(asked, [fees], { said })?.text).toBe('Gold card – Annual fee: 49 EUR; Limit: 5,000 EUR');
      said.push('Gold card – Annual fee: 49 EUR; Limit: 5,000 EUR');
      expect(extract(asked, [fees], { said, language: 'de' })?.text).toMatch(/^Mehr als das/u);
    });
  });

  describe('with embeddings', () => {
    const question = 'Wann ist geöffnet?';
    it('the sentence with the closest vector is chosen when no sentence shares a word with the question', () => {
      const closeness = new Map([['Our branches open at nine.', 0.6]]);
      expect(extract(question, [transfers], { closeness })?.text).toContain('Our branches open at nine.');
    });
    it('a passage is quoted even when its sentences have no vectors and share no word with the question', () => {
      expect(extract(question, [transfers], { closeness: new Map() })?.used).toEqual(['transfers']);
    });
    const first: Source = { id: 'first', heading: 'Times', text: 'We are there from nine to four.' };
    const near = new Map([
      ['We are there from nine to four.', 0.5],
      ['Our branches open at nine.', 0.6],
    ]);
    it('an answer quotes the first passage before another passage whose sentence is slightly closer to the question', () => {
      const answer = extract(question, [first, transfers], { closeness: near });
      expect(answer?.used).toEqual(['first', 'transfers']);
      expect(answer?.text).toMatch(
        /:\nTimes: We are there from nine to four\.\n\nTransfers abroad: Our branches open at nine\./u,
      );
    });
    it('an answer quotes a second passage only with embeddings and under another heading, and never a third passage', () => {
      const same = { ...transfers, heading: 'Times' };
      expect(extract(question, [first, same], { closeness: near })?.used).toEqual(['first']);
      const third = { ...transfers, id: 'third', heading: 'Third' };
      expect(extract(question, [first, transfers, third], { closeness: near })?.used).toEqual(['first', 'transfers']);
      expect(extract('Transfers abroad: are we there?', [first, transfers])?.used).toHaveLength(1);
    });
    it('embeddings are not needed when a sentence of the first passage has the words of the question', () => {
      expect(wordsSuffice('How long do transfers within the euro area take?', [transfers])).toBe(true);
      expect(wordsSuffice('How long do transfers within the euro area take?', [lost, transfers])).toBe(false);
      expect(wordsSuffice(question, [transfers])).toBe(false);
    });
  });
});
