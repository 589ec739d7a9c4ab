import { describe, expect, it } from '@jest/globals';
import {
  distinctOffers,
  isNamed,
  labelOf,
  namedBy,
  offerOf,
  offerText,
  shownOffer,
  takenOffer,
} from '../../../models/rules/knowledge/offers.ts';
import { isTitle } from '../../../models/rules/knowledge/units.ts';
import { languages } from '../../../models/rules/language/language.ts';
import { maxOffers, type Passage } from '../../../models/rules/knowledge/retrieval.ts';

const passage = (more: Partial<Passage> = {}): Passage => ({
  id: 'doc_1:1:0',
  source_id: 'doc_1',
  type: 'document',
  name: 'cash.md',
  heading: 'Help centre > What cash costs > In the euro area',
  text: 'Three withdrawals a month are free.',
  segments: [],
  authority: 'normal',
  ...more,
});
const row = 'Service: Paper statement; Price: 1.20 EUR';
const table = passage({ heading: 'fees', text: `Service: Replacement card; Price: 10 EUR\n${row}` });

describe('an offer of a passage to the customer', () => {
  it.each([
    ['Help > What cash costs > In the euro area', 'What cash costs – In the euro area'],
    ['Help > Cash > Fees of the machine’s owner abroad', 'Fees of the machine’s owner abroad'],
    ['Opening hours', 'Opening hours'],
  ])('an offer of the section %s is labelled %s', (heading, label) => {
    expect(labelOf(heading)).toBe(label);
  });

  it('an offer is labelled by its heading, its nearest table row or its document', () => {
    expect(offerOf(passage()).heading).toBe('What cash costs – In the euro area');
    expect(offerOf(table, row).heading).toBe('fees – Paper statement');
    expect(offerOf(passage({ heading: '' })).heading).toBe('cash.md');
  });

  it.each([
    ['a heading', passage(), undefined],
    ['a row', table, row],
    ['a long heading', passage({ heading: `All about ${'very long matters '.repeat(12)}` }), undefined],
  ])(
    'the question with which a customer accepts an offer names the offered passage and no other: %s',
    (_label, offered, nearest) => {
      const { question } = offerOf(offered, nearest);
      expect(isNamed(question, offered)).toBe(true);
      expect(isNamed(` ${question.toUpperCase()} `, offered)).toBe(true);
      expect(isNamed(question, passage({ heading: 'Another' }))).toBe(false);
    },
  );

  it('an offer shows in one line the sentence or table row that is nearest to the question', () => {
    expect(offerOf(passage()).says).toBe('Three withdrawals a month are free.');
    expect(offerOf(table, row).says).toBe('Price: 1.20 EUR');
    const list = passage({ text: 'You need three things:\n\n1. A passport\n2. A phone' });
    expect(offerOf(list).says).toBe('You need three things: 1. A passport 2. A phone');
    const long = offerOf(passage({ text: `One. ${'All of this is very long. '.repeat(2)}${'word '.repeat(60)}end.` }));
    expect(long.says).toBe('One.');
    const cut = offerOf(passage({ text: `${'word '.repeat(60)}end.` })).says;
    expect([cut.length <= 140, cut.at(-1)]).toEqual([true, '…']);
  });

  it('an offer shows a short passage whole, and of a long passage only the sentence nearest to the question', () => {
    const short = 'Customers park for free for two hours. Each further hour costs 3 EUR.';
    expect(offerOf(passage({ text: short }), 'Customers park for free for two hours.').says).toBe(short);
    const long = `${short} ${'Cars are parked at the owner’s risk. '.repeat(3).trim()}`;
    expect(offerOf(passage({ text: long }), 'Each further hour costs 3 EUR.').says).toBe(
      'Each further hour costs 3 EUR.',
    );
  });

  it('a table row beside sentences is offered only when the question names the row', () => {
    const match = 'Result: Match; What it means: Name and IBAN belong together';
    const text = `We compare the name with the account.\n\n${match}\nResult: Not available; What it means: No answer`;
    const checked = passage({ heading: 'Transfers within the euro area', text });
    const unnamed = offerOf(checked, match, () => false);
    expect([unnamed.heading, unnamed.says]).toEqual([
      'Transfers within the euro area',
      'We compare the name with the account.',
    ]);
    expect(offerOf(checked, match, (name) => name === 'Match').says).toBe(
      'What it means: Name and IBAN belong together',
    );
    expect(offerOf(table, row, () => false).heading).toBe('fees – Paper statement');
  });

  it('an offer is not labelled by a table row whose first cell is a value', () => {
    const flags = passage({
      heading: 'Plans > Sharing',
      text: 'Plus: no; Metal: yes\nPlus: yes; Metal: yes',
    });
    expect(offerOf(flags, 'Plus: no; Metal: yes').heading).toBe('Plans – Sharing');
  });

  it.each([
    ['Card guide', true],
    ['Call +49 30 5550 116', false],
    ['Opening hours: at any time', false],
    ['It is free.', false],
  ])('isTitle recognizes a passage that is only a title, which is never offered: %s', (text, title) => {
    expect(isTitle(text)).toBe(title);
  });

  it('a section that is split into several passages is offered once, and at most three offers are made', () => {
    const headings = ['A', 'B', 'A', 'C', 'D'];
    const offers = distinctOffers(headings.map((heading, at) => offerOf(passage({ heading, id: `doc_1:1:${at}` }))));
    expect(offers.map(({ heading, passage: id }) => [heading, id])).toEqual([
      ['A', 'doc_1:1:0'],
      ['B', 'doc_1:1:1'],
      ['C', 'doc_1:1:3'],
    ]);
    expect(offers.length).toBe(maxOffers);
  });

  it('a message accepts an offer only when it equals the offer’s question, ignoring case', () => {
    const offers = [offerOf(passage())];
    expect(takenOffer('what cash costs – in the euro area', offers)).toBe(offers[0]);
    expect(takenOffer('What does cash cost in the euro area?', offers)).toBeUndefined();
  });

  it('of the passages that a message names, only those of the highest tier answer, and none below the tier that answers', () => {
    const of = (authority: Passage['authority']) => ({ passage: passage({ heading: 'Opening hours', authority }) });
    const [page, document, contract] = [of('background'), of('normal'), of('primary')];
    const other = { passage: passage({ authority: 'primary' }) };
    const judged = [page, document, other];
    expect(namedBy('opening hours', { judged, authority: 'background' })).toEqual([document]);
    expect(namedBy('opening hours', { judged, authority: undefined })).toEqual([document]);
    expect(namedBy('opening hours', { judged: [page, other], authority: undefined })).toEqual([page]);
    expect(namedBy('opening hours', { judged, authority: 'primary' })).toEqual([]);
    expect(namedBy('opening hours', { judged: [...judged, contract], authority: 'normal' })).toEqual([contract]);
  });

  it('a customer sees the source of an offer but not the id of its passage', () => {
    expect(shownOffer(offerOf(passage({ url: 'https://bank.example/cash' })))).toEqual({
      heading: 'What cash costs – In the euro area',
      question: 'What cash costs – In the euro area',
      says: 'Three withdrawals a month are free.',
      source: { type: 'document', id: 'doc_1', name: 'cash.md', url: 'https://bank.example/cash' },
    });
  });

  it('the sentence that introduces offers exists in every language of the agent', () => {
    const said = languages.map((language) => offerText([offerOf(passage())], language));
    expect(new Set(said).size).toBe(languages.length);
    for (const text of said)
      expect(text).toMatch(/:\n- What cash costs – In the euro area: Three withdrawals a month are free\.$/u);
  });
});
