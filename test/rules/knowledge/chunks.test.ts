/** How a document is split into chunks: a table of examples, and properties over generated documents. */
import { describe, expect, it } from '@jest/globals';
import {
  countWords,
  maxCharacters,
  maxChunks,
  maxWords,
  rowText,
  targetRowWords,
  targetWords,
  toChunks,
  type Block,
} from '../../../models/rules/knowledge/chunks.ts';
import { sentences } from '../../../models/rules/language/sentences.ts';
import { randomNumbers } from '../../kit/random.ts';

const text = (value: string): Block => ({ kind: 'text', text: value });
const item = (value: string): Block => ({ kind: 'text', text: value, item: true });
const heading = (level: number, value: string): Block => ({ kind: 'heading', level, text: value });
const row = (table: string, ...cells: [string, string][]): Block => ({ kind: 'row', table, cells });
const words = (count: number, name = 'word'): string =>
  `${Array.from({ length: count }, (_, at) => `${name}${at}`).join(' ')}.`;

describe('sentences', () => {
  it.each([
    ['One. Two! Three?', ['One.', 'Two!', 'Three?']],
    ['Ask Mr. Smith, e.g. At noon. Then go.', ['Ask Mr. Smith, e.g. At noon.', 'Then go.']],
    ['Die Karte, z. B. Gold, kostet 49,90 EUR. Ja.', ['Die Karte, z. B. Gold, kostet 49,90 EUR.', 'Ja.']],
    ['The fee is 3.50 EUR. Done.', ['The fee is 3.50 EUR.', 'Done.']],
    ['line one\nline two', ['line one', 'line two']],
    ['Am 24. Dezember ist zu. Der 1. Mai auch.', ['Am 24. Dezember ist zu.', 'Der 1. Mai auch.']],
    ['Nach dem 2. Versuch ist Schluss.', ['Nach dem 2. Versuch ist Schluss.']],
    ['7. In the app', ['7. In the app']],
    ['It costs 12. Customers pay at once.', ['It costs 12.', 'Customers pay at once.']],
    ['I am 18. Can I have a card?', ['I am 18.', 'Can I have a card?']],
    ['Höchstens max. 500 EUR, min. 18 Jahre.', ['Höchstens max. 500 EUR, min. 18 Jahre.']],
    ['It takes 5 min. Please wait.', ['It takes 5 min.', 'Please wait.']],
    ['Acme Inc. Berlin pays. We are Acme Inc. They pay.', ['Acme Inc. Berlin pays.', 'We are Acme Inc.', 'They pay.']],
    ['From Jan. 5 We are open.', ['From Jan. 5 We are open.']],
    ['料金は百円です。次の文です。', ['料金は百円です。', '次の文です。']],
    ['', []],
    [' \n ', []],
  ])('sentences() splits the text %j into %j', (source, expected) => expect(sentences(source)).toEqual(expected));

  it('a text of abbreviations only is split into sentences in linear time', () => {
    // An algorithm that rescans the text at each abbreviation takes minutes, so Jest's timeout fails it.
    const text = 'Dr. '.repeat(50_000).trim();
    expect(sentences(text)).toEqual([text]);
  });
});

describe('toChunks', () => {
  it.each<[string, Block[], [heading: string, text: string][]]>([
    ['text without a heading', [text('A b.')], [['', 'A b.']]],
    ['a path of headings', [heading(1, 'Cards'), heading(2, 'Lost'), text('Call.')], [['Cards > Lost', 'Call.']]],
    [
      'a heading closes those of its level and below',
      [heading(1, 'A'), heading(2, 'B'), text('b.'), heading(2, 'C'), text('c.'), heading(1, 'D'), text('d.')],
      [
        ['A > B', 'b.'],
        ['A > C', 'c.'],
        ['D', 'd.'],
      ],
    ],
    ['a skipped level', [heading(1, 'A'), heading(4, 'B'), text('b.')], [['A > B', 'b.']]],
    [
      'a document that starts at level 3',
      [heading(3, 'A'), text('a.'), heading(2, 'B'), text('b.')],
      [
        ['A', 'a.'],
        ['B', 'b.'],
      ],
    ],
    [
      'a heading with nothing under it is text',
      [heading(1, 'A'), text('a.'), heading(1, 'Z')],
      [
        ['A', 'a.'],
        ['', 'Z'],
      ],
    ],
    ['a heading of a whole paragraph is text', [heading(1, words(60)), text('a.')], [['', `${words(60)}\n\na.`]]],
    [
      'list items are lines',
      [text('Do:'), item('1. a.'), item('2. b.'), text('End.')],
      [['', 'Do:\n\n1. a.\n2. b.\n\nEnd.']],
    ],
    [
      'a row says its columns',
      [
        row('Fees', ['Product', 'Gold card'], ['Annual fee', '49 EUR'], ['Note', '']),
        row('Fees', ['Product', 'Debit'], ['Annual fee', '0 EUR']),
      ],
      [['Fees', 'Product: Gold card; Annual fee: 49 EUR\nProduct: Debit; Annual fee: 0 EUR']],
    ],
    [
      'a table under its own heading is not named twice',
      [heading(1, 'Fees'), row('Fees', ['a', 'b'])],
      [['Fees', 'a: b']],
    ],
    [
      'two tables are two passages',
      [row('A', ['a', '1']), row('B', ['a', '2'])],
      [
        ['A', 'a: 1'],
        ['B', 'a: 2'],
      ],
    ],
    [
      'text and rows are not mixed',
      [text('t.'), row('', ['a', '1']), text('u.')],
      [
        ['', 't.'],
        ['', 'a: 1'],
        ['', 'u.'],
      ],
    ],
    ['a cell is one line', [row('', ['a', 'x\ny'], ['', 'z'])], [['', 'a: x y; z']]],
  ])('a document is split into chunks by its structure: %s', (_label, blocks, expected) => {
    const chunks = toChunks(blocks);
    expect(chunks.map((chunk) => [chunk.heading, chunk.text])).toEqual(expected);
    expect(chunks.map(({ ordinal }) => ordinal)).toEqual(expected.map((_, at) => at));
  });

  it('a chunk without a heading gets the document title as its heading', () => {
    const blocks = [text('a.'), heading(1, 'H'), text('b.')];
    expect(toChunks(blocks, { title: 'branches' }).map((chunk) => chunk.heading)).toEqual(['branches', 'H']);
  });

  it('a chunk ends at a paragraph once it has enough words', () => {
    const chunks = toChunks([text(words(targetWords)), text(words(30))]);
    expect(chunks.map((chunk) => countWords(chunk.text))).toEqual([targetWords, 30]);
    expect(toChunks([text(words(targetWords - 1)), text(words(30))])).toHaveLength(1);
  });

  it('a chunk does not end between a line that introduces the next one and that line', () => {
    const intro = 'The following are not insured:';
    const list = [item('- Skis.'), item('- Boats.')];
    const [chunk, ...rest] = toChunks([text(words(targetWords - 2)), text(intro), ...list]);
    expect(rest).toEqual([]);
    expect(chunk?.text).toMatch(/The following are not insured:\n\n- Skis\.\n- Boats\.$/);
    const answer = words(maxWords - targetWords, 'answer');
    const full = toChunks([text(words(targetWords - 2)), text('What does it cost?'), text(answer)]);
    expect(full.map((each) => each.text)).toEqual([words(targetWords - 2), `What does it cost?\n\n${answer}`]);
    const longest = toChunks([text(words(10)), text(intro), text(words(maxWords, 'long'))]);
    expect(longest.map((each) => each.text)).toEqual([`${words(10)}\n\n${intro}`, words(maxWords, 'long')]);
  });

  it('a long paragraph is split at sentence ends only', () => {
    const source = Array.from({ length: 40 }, (_, at) => words(20, `S${at}w`));
    const chunks = toChunks([text(source.join(' '))]);
    expect(chunks.length).toBeGreaterThan(3);
    expect(chunks.flatMap((chunk) => sentences(chunk.text))).toEqual(source);
  });

  it('a sentence over the maximum is split between words, and text without blanks between characters', () => {
    const chunks = toChunks([text(words(maxWords * 2 + 5))]);
    expect(chunks.map((chunk) => countWords(chunk.text))).toEqual([maxWords, maxWords, 5]);
    const solid = toChunks([text('x'.repeat(maxCharacters * 3))]);
    expect(solid.every((chunk) => chunk.text.length <= maxCharacters)).toBe(true);
    expect(solid.map((chunk) => chunk.text.replaceAll(' ', '')).join('')).toBe('x'.repeat(maxCharacters * 3));
  });

  it('each chunk of a long table row repeats the subject of the row', () => {
    const answer = Array.from({ length: 40 }, (_, at) => words(20, `s${at}w`)).join(' ');
    const chunks = toChunks([row('FAQ', ['Question', 'How do I pay?'], ['Answer', answer])]);
    expect(chunks.length).toBeGreaterThan(3);
    for (const chunk of chunks) expect(chunk.text).toMatch(/^Question: How do I pay\?; /);
    expect(chunks[0]?.text).toMatch(/^Question: How do I pay\?; Answer: s0w0/);
  });

  it('table rows share a chunk up to the target size, and no row is split', () => {
    const rows = Array.from({ length: 50 }, (_, at) => row('T', ['Name', `n${at}`], ['Text', words(20, `r${at}w`)]));
    const chunks = toChunks(rows);
    for (const chunk of chunks) expect(countWords(chunk.text)).toBeLessThanOrEqual(targetRowWords);
    expect(chunks.flatMap((chunk) => chunk.text.split('\n'))).toEqual(
      rows.map((each) => (each.kind === 'row' ? rowText(each.cells) : '')),
    );
  });

  it('a document with more chunks than the maximum is refused and not truncated', () => {
    const sections = (count: number): Block[] =>
      Array.from({ length: count }, (_, at) => [heading(1, `H${at}`), text('a.')]).flat();
    expect(toChunks(sections(maxChunks))).toHaveLength(maxChunks);
    expect(() => toChunks(sections(maxChunks + 1))).toThrow(expect.objectContaining({ reason: 'too_much_text' }));
  });

  it.each<[string, Block[]]>([
    ['nothing', []],
    ['blanks', [text(' \n ')]],
    ['marks only', [text('--- *** …')]],
    ['empty cells', [row('T', ['a', ''])]],
  ])('a document with only %s is refused as empty', (_label, blocks) => {
    expect(() => toChunks(blocks)).toThrow(expect.objectContaining({ reason: 'empty' }));
  });
});

/** A seeded generator of whole numbers, so that a failure can be reproduced. */
function seeded(seed: number): (below: number) => number {
  const random = randomNumbers(seed);
  return (below) => (random() * 2 ** 32) % below;
}

function generate(seed: number): Block[] {
  const random = seeded(seed);
  let next = 0;
  const some = (most: number): string =>
    Array.from({ length: 1 + random(most) }, () => `w${(next += 1)}${random(9) === 0 ? '.' : ''}`).join(' ');
  return Array.from({ length: 1 + random(60) }, (): Block => {
    const kind = random(10);
    if (kind < 2) return heading(1 + random(6), some(12));
    if (kind < 4) return row(`t${random(2)}`, ['', some(40)], ['', some(random(8) === 0 ? 900 : 30)]);
    return kind < 6 ? item(some(40)) : text(some(random(6) === 0 ? 900 : 90));
  });
}

describe('toChunks over 100 generated documents', () => {
  const documents = Array.from({ length: 100 }, (_, seed) => generate(seed));
  const cut = documents.map((blocks) => toChunks(blocks));
  const tokens = (value: string): string[] => value.match(/w\d+/g) ?? [];

  it('chunks keep every word of the text in its order', () => {
    for (const [seed, blocks] of documents.entries()) {
      const chunks = cut[seed] ?? [];
      const source = blocks
        .filter((block) => block.kind !== 'heading')
        .flatMap((block) => tokens(block.kind === 'row' ? rowText(block.cells) : block.text));
      const seen = new Set<string>();
      const passages = chunks.flatMap((chunk) => tokens(chunk.text));
      // Later chunks of a long row repeat its label. So only the first occurrence of a word counts.
      const first = passages.filter((word) => !seen.has(word) && seen.add(word));
      const wanted = new Set(source);
      expect([seed, first.filter((word) => wanted.has(word))]).toEqual([seed, source]);
    }
  });

  it('chunks keep every heading', () => {
    for (const [seed, blocks] of documents.entries()) {
      const everything = new Set((cut[seed] ?? []).flatMap((chunk) => tokens(`${chunk.heading} ${chunk.text}`)));
      const headings = blocks.filter((block) => block.kind === 'heading').flatMap((block) => tokens(block.text));
      expect(headings.filter((word) => !everything.has(word))).toEqual([]);
    }
  });

  it('every chunk stays within the maximum number of words and characters', () => {
    for (const chunk of cut.flat()) {
      expect(countWords(chunk.text)).toBeLessThanOrEqual(maxWords);
      expect(chunk.text.length).toBeLessThanOrEqual(maxCharacters);
      expect(chunk.text.trim()).not.toBe('');
    }
  });

  it('splitting the same document again gives the same chunks', () => {
    for (const blocks of documents.slice(0, 20)) expect(toChunks(blocks)).toEqual(toChunks(structuredClone(blocks)));
  });
});
