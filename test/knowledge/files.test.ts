/**
 * Reading files of every type: their content, the help centre's answers, and the reason for each unreadable file.
 * Further tests show that neither a file nor a crash of a reader process leaves anything behind.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { getPriority, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import iconv from 'iconv-lite';
import { patientNiceness } from '../../clients/base/background.ts';
import { reasonOf as reasonInProcess, sandboxFlags } from '../../clients/base/sandbox.ts';
import { createFiles, sniffFile, type Files } from '../../clients/files/files.ts';
import { defaultLimits } from '../../clients/files/limits.ts';
import { readers } from '../../clients/files/readers.ts';
import { rowText, toChunks, type Block } from '../../models/rules/knowledge/chunks.ts';
import { maxFileBytes, type FileType } from '../../models/rules/knowledge/document.ts';
import { headBytes, Unreadable, type UnreadableReason } from '../../models/rules/base/unreadable.ts';
import { Problem } from '../../models/rules/base/errors.ts';
import * as bad from '../kit/badfiles.ts';
import { readerProgram } from '../kit/readerprogram.ts';

const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
const stream = (bytes: Buffer): Readable => Readable.from([bytes]);

const program = await readerProgram();
let files: Files;
let folder: string;
beforeAll(async () => {
  // The time limit is generous, because machines may be busy. Other tests cover the limit.
  files = createFiles({ program, timeoutMs: 55_000 });
  folder = await mkdtemp(join(tmpdir(), 'files-'));
});
afterAll(async () => {
  await files.close();
  await rm(folder, { recursive: true, force: true });
});

const read = (bytes: Buffer | string, type: FileType): Promise<Block[]> =>
  files.extract(stream(Buffer.from(bytes)), type);
/** The same readers without a process, for tests of the formats. The last `describe` blocks test the processes. */
const readHere = async (bytes: Buffer | string, type: FileType): Promise<Block[]> =>
  (await (await readers[type]())(Buffer.from(bytes), defaultLimits)).list;
/** Why the readers refuse a file, without a process. As in a process, its blocks are also cut into chunks. */
const reasonHere = (bytes: Buffer, type: FileType): Promise<UnreadableReason | 'read'> =>
  readHere(bytes, type)
    .then((blocks) => toChunks(blocks))
    .then(() => 'read' as const, reasonInProcess);
const reasonOf = (reading: Promise<unknown>): Promise<UnreadableReason | 'read'> =>
  reading.then(
    () => 'read' as const,
    (error: unknown) => {
      if (error instanceof Unreadable) return error.reason;
      throw error;
    },
  );
const rows = (blocks: readonly Block[]): [string, string][][] =>
  blocks.filter((block) => block.kind === 'row').map((block) => block.cells);

/** Polls until the condition holds; only the test's own timeout ends it. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await delay(10);
}

const sessionOf = (pid: number): string => /\) \S+ \d+ \d+ (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))![1]!;

const running = (pid: number): boolean => {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};
const childrenOf = (pid: number): number[] => {
  const list = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return list.trim().split(' ').filter(Boolean).map(Number);
};
const onLinux = existsSync(`/proc/${process.pid}/task/${process.pid}/children`) ? it : it.skip;

describe('the help centre in test/fixtures', () => {
  type Facts = { documents: { filename: string }[]; questions: { source: string | null; contains: string | null }[] };
  const facts = JSON.parse(readFileSync(fixture('questions.json'), 'utf8')) as Facts;
  const passages = async (filename: string): Promise<string> => {
    const chunks = await files.chunk(fixture(filename), await sniffFile(fixture(filename), filename), { filename });
    return chunks.map((chunk) => `${chunk.heading}\n${chunk.text}`).join('\n\n');
  };

  it('the passages of each file in test/fixtures contain the expected answers to the questions that name the file', async () => {
    const contents = new Map<string, string>();
    for (const { filename } of facts.documents) contents.set(filename, await passages(filename));
    for (const { source, contains } of facts.questions) {
      if (source !== null && contains !== null) expect(contents.get(source)).toContain(contains);
    }
    expect(contents.size).toBe(6);
  });

  it('in help.md, headings are read as paths, front matter is dropped, and table cells get their column’s name', async () => {
    const content = await passages('help.md');
    expect(content).not.toContain('language: en');
    expect(content).toContain('Lindenbank help centre > Sending money > Instant transfers\n');
    expect(content).toContain('Result: No match; What it means: The IBAN belongs to somebody else; What to do: Stop,');
  });

  it('in cards.docx, numbered steps, bullets and the table are preserved', async () => {
    const content = await passages('cards.docx');
    expect(content).toContain('\n2. If you cannot reach the app, call the card hotline on +49 30 5550 116.');
    expect(content).toContain('\n- Up to 50 cards belong to one company account');
    expect(content).toContain(
      'Card: Linden Gold; For whom: private customers with an income; Payments per day: 10,000 EUR',
    );
    expect(content).toContain('Lost or stolen card > Express replacement abroad\n');
  });

  it('in fees.xlsx, numbers are read as Excel formats them, dates as ISO dates, and hidden sheets are skipped', async () => {
    const content = await passages('fees.xlsx');
    expect(content).toContain('Private customers\nPrice list for private customers');
    expect(content).toContain(
      'Service: Payment in another currency; Price: 1.75%; Charged: of the amount; Valid from: 2026-01-01',
    );
    expect(content).toContain('Business customers\nService: Business account Start; Price: 9.90 EUR');
    expect(content).not.toMatch(/margin|41 %/);
  });

  it('in branches.csv, the semicolon is detected as delimiter, and a quoted comma is kept', async () => {
    const content = await passages('branches.csv');
    expect(content).toContain(
      'branches\nBranch: Old Market; Street: Am Alten Markt 3; Town: Potsdam; Monday to Friday: 9:00-18:00',
    );
    expect(content).toContain('Branch: Airport, Terminal 2; Street: Flughafenring 200');
  });

  it('in security.txt, numbered section titles are read as headings, wrapped lines are joined, and numbered steps stay list items', async () => {
    const content = await passages('security.txt');
    expect(content).toContain(
      '5. Who is liable\nYou are liable for at most 50 EUR when somebody misuses your card or your access',
    );
    expect(content).toContain('\n2. Call the security desk on +49 30 5550 112. It is open day and night.\n3. Change');
  });
});

describe('text files', () => {
  it.each<[string, Buffer]>([
    ['UTF-8', Buffer.from(bad.germanText)],
    ['UTF-8 with a mark', bad.utf8WithMark()],
    ['windows-1252', bad.windows1252Text()],
    ['UTF-16LE without a mark', bad.utf16leWithoutMark()],
    ['UTF-16BE with a mark', bad.utf16beWithMark()],
  ])('a text file in %s is decoded', async (_label, bytes) => {
    for (const type of ['txt', 'md'] as const)
      expect(await readHere(bytes, type)).toEqual([{ kind: 'text', text: bad.germanText }]);
  });

  it.each([
    ['windows-1250', 'Wypłata gotówki za granicą kosztuje 15 zł, przelew zwykły jest bezpłatny.'],
    ['ISO-8859-2', 'Wypłata gotówki za granicą kosztuje 15 zł, przelew zwykły jest bezpłatny.'],
    ['windows-1250', 'Příliš žluťoučký kůň: poplatek za výběr hotovosti v zahraničí je 15 Kč.'],
    ['ISO-8859-2', 'Příliš žluťoučký kůň: poplatek za výběr hotovosti v zahraničí je 15 Kč.'],
  ])('a text file in %s is decoded: %s', async (encoding, text) => {
    expect(await readHere(iconv.encode(text, encoding), 'txt')).toEqual([{ kind: 'text', text }]);
  });

  it('the reader removes invisible and direction-changing characters from a text file', async () => {
    expect(await read('Pay\u200b \u202e100\u202c EUR\u0007.', 'txt')).toEqual([{ kind: 'text', text: 'Pay 100 EUR.' }]);
  });
});

/** Each block as a line of text, as in an answer. */
const lines = (blocks: readonly Block[]): string[] =>
  blocks.map((block) => (block.kind === 'row' ? rowText(block.cells) : block.text));

describe('tables in HTML and Markdown', () => {
  const cellOf = (text: string): string => (text.startsWith('!') ? `<th>${text.slice(1)}</th>` : `<td>${text}</td>`);
  const rowOf = (line: string): string => `<tr>${line.split('|').map(cellOf).join('')}</tr>`;
  const table = (text: string): string => `<table>${text.split('\n').map(rowOf).join('')}</table>`;
  it.each<[string, string, string[]]>([
    [
      'names and values',
      table('!Phone|+49 381 1\n!Mail|a@b.example\n!Hours|9-17'),
      ['Phone: +49 381 1', 'Mail: a@b.example', 'Hours: 9-17'],
    ],
    ['an empty value first', table('!Fax|\n!Phone|+49 381 1'), ['Fax', 'Phone: +49 381 1']],
    [
      'lines across it',
      '<table><tr><th colspan=2>Bank</th></tr><tr><th>Seat</th><td>Potsdam</td></tr><tr><th colspan=2>Contact</th></tr><tr><th>Phone</th><td>112</td></tr></table>',
      ['Bank', 'Seat: Potsdam', 'Contact', 'Phone: 112'],
    ],
    [
      'a name over two rows',
      '<table><tr><th rowspan=2>Monday</th><td>by phone</td></tr><tr><td>by letter</td></tr><tr><th>Tuesday</th><td>closed</td></tr></table>',
      ['Monday: by phone', 'Monday: by letter', 'Tuesday: closed'],
    ],
    [
      'three columns, the first marked',
      table('!Monday|9-12|14-18\n!Tuesday|9-12|closed'),
      ['Monday; 9-12; 14-18', 'Tuesday; 9-12; closed'],
    ],
    [
      'three columns, the first marked, and names',
      table('!Plan|Mini|Maxi\n!Data|5 GB|20 GB\n!Price|5 EUR|9 EUR'),
      ['Plan: Data; Mini: 5 GB; Maxi: 20 GB', 'Plan: Price; Mini: 5 EUR; Maxi: 9 EUR'],
    ],
    [
      'names above and beside',
      table('|!Mini|!Maxi\n!Support|by letter|by phone'),
      ['Support; Mini: by letter; Maxi: by phone'],
    ],
    [
      'one product and a free column',
      table('!|!Gold|\n!Use|shops|\n!Kind|debit|'),
      ['Use; Gold: shops', 'Kind; Gold: debit'],
    ],
    ['one product', table('!|!Gold\n!Use|shops\n!Kind|debit'), ['Use; Gold: shops', 'Kind; Gold: debit']],
    ['one marked cell in a first row of names', table('!Card|Fee\nGold|10 EUR'), ['Card: Gold; Fee: 10 EUR']],
    [
      'a head without marked cells',
      '<table><thead><tr><td>Team</td><td>Lead</td></tr></thead><tr><td>Sales</td><td>Ann</td></tr></table>',
      ['Team: Sales; Lead: Ann'],
    ],
    [
      'a marked title',
      '<table><tr><th colspan=2>Fees 2026</th></tr><tr><th>Card</th><th>Kind</th></tr><tr><td>Gold</td><td>credit</td></tr></table>',
      ['Fees 2026', 'Card: Gold; Kind: credit'],
    ],
    [
      'a plain title',
      '<table><tr><td colspan=2>Fees 2026</td></tr><tr><td>Card</td><td>Fee</td></tr><tr><td>Gold</td><td>10 EUR</td></tr></table>',
      ['Fees 2026', 'Card: Gold; Fee: 10 EUR'],
    ],
    [
      'a title over two rows of names',
      '<table><tr><th colspan=3>Fees</th></tr><tr><th rowspan=2>Card</th><th colspan=2>Fee</th></tr><tr><th>Online</th><th>Branch</th></tr><tr><td>Gold</td><td>1</td><td>2</td></tr></table>',
      ['Fees', 'Card: Gold; Fee Online: 1; Fee Branch: 2'],
    ],
    ['words without marks', table('Team|Lead|Deputy\nSales|Ann|Tom'), ['Team; Lead; Deputy', 'Sales; Ann; Tom']],
    [
      'equal cells, one of them spanning',
      '<table><tr><th>Online</th><th>Branch</th></tr><tr><td rowspan=2>free</td><td>5 EUR</td></tr><tr><td>free</td></tr></table>',
      ['Online: free; Branch: 5 EUR', 'Online: free; Branch: free'],
    ],
    ['a name alone above values', '| Card | |\n|---|---|\n| Gold | 10 EUR |\n', ['Card: Gold; 10 EUR']],
    [
      'a title where names are due',
      '| Fees 2026 | |\n|---|---|\n| Card | Fee |\n| Gold | 10 EUR |\n',
      ['Fees 2026', 'Card: Gold; Fee: 10 EUR'],
    ],
    [
      'a value where names are due',
      '| Phone | +49 381 1 |\n|---|---|\n| Mail | a@b.example |\n',
      ['Phone: +49 381 1', 'Mail: a@b.example'],
    ],
    ['no names where they are due', '| | |\n|---|---|\n| Phone | +49 381 1 |\n', ['Phone: +49 381 1']],
  ])('a table is read as rows with column names: %s', async (_label, source, expected) =>
    expect(lines(await readHere(source, 'md'))).toEqual(expected),
  );

  it('a table of 5,500 groups whose labels span several rows keeps its columns', async () => {
    const group = (at: number): string =>
      `<tr><td rowspan=3>Kind ${at}</td><td rowspan=3>Brand ${at}</td><td>small</td><td>1</td></tr><tr><td>medium</td><td>2</td></tr><tr><td>large</td><td>3</td></tr>`;
    const groups = Array.from({ length: 5_500 }, (_, at) => group(at)).join('');
    const source = `<table><tr><th>Kind</th><th>Brand</th><th>Size</th><th>Price</th></tr>${groups}</table>`;
    const found = lines(await readHere(source, 'md'));
    expect(found).toHaveLength(16_500);
    expect(found.at(-1)).toBe('Kind: Kind 5499; Brand: Brand 5499; Size: large; Price: 3');
  });
});

describe('Markdown', () => {
  it('HTML in Markdown becomes text, and its scripts are dropped', async () => {
    const source =
      'A <b>bold</b> &amp; <script>alert(1)</script>word.<!-- secret -->\n\n<table><tr><td>Phone</td><td>112</td></tr></table>\n';
    expect(await readHere(source, 'md')).toEqual([
      { kind: 'text', text: 'A bold & word.' },
      { kind: 'row', table: '', cells: [['Phone', '112']] },
    ]);
  });

  it('a superscript in Markdown or HTML is not glued to the number before it', async () => {
    const source =
      'The fee is 49<sup>1</sup> EUR or €19<sup><a href="#n">2</a></sup>, 9<sup>99</sup> € for 20 m<sup>2</sup>.\n\n<sup>1 Without VAT, for <b>12</b> months at&nbsp;5&nbsp;EUR.</sup>\n';
    expect(lines(await readHere(source, 'md'))).toEqual([
      'The fee is 49¹ EUR or €19², 9⁹⁹ € for 20 m².',
      '¹ Without VAT, for 12 months at 5 EUR.',
    ]);
  });

  it('struck-out text in Markdown or HTML is dropped, and a range with single tildes is not', async () => {
    const source =
      '<del>Refunds within 30 days.</del> Refunds within 14 days.\n\n~~Free.~~ It costs <s>5</s> <strike>6</strike> 7 EUR, open 10~12, 14~16.\n';
    expect(lines(await readHere(source, 'md'))).toEqual([
      'Refunds within 14 days.',
      'It costs 7 EUR, open 10~12, 14~16.',
    ]);
  });

  it('a Markdown link keeps its address unless the label shows the address', async () => {
    const source =
      'See [the form](https://bank.example/f) or <https://bank.example/g>, not [this](javascript:alert(1)).';
    const [block] = await readHere(source, 'md');
    expect(block).toEqual({
      kind: 'text',
      text: 'See the form (https://bank.example/f) or https://bank.example/g, not this.',
    });
  });
});

describe('CSV', () => {
  it.each([
    [',', 'Name,Fee\nGold,"4,90"\nDebit,0\n'],
    [';', 'Name;Fee\nGold;4,90\nDebit;0\n'],
    ['tab', 'Name\tFee\nGold\t4,90\nDebit\t0\n'],
    ['|', 'Name|Fee\nGold|4,90\nDebit|0\n'],
    ['sep=', 'sep=;\nName;Fee\nGold;4,90\nDebit;0\n'],
    ['CR LF and a mark', '\ufeffName;Fee\r\nGold;4,90\r\nDebit;0\r\n'],
  ])('the delimiter of a CSV file is detected: %s', async (_label, source) => {
    expect(rows(await readHere(source, 'csv'))).toEqual([
      [
        ['Name', 'Gold'],
        ['Fee', '4,90'],
      ],
      [
        ['Name', 'Debit'],
        ['Fee', '0'],
      ],
    ]);
  });

  it('a quoted line break stays in its CSV cell, and rows of any length are kept', async () => {
    const source = 'Question,Answer\n"How?","Like\nthis."\nWhy?\nWhen?,now,extra\n';
    expect(rows(await readHere(source, 'csv'))).toEqual([
      [
        ['Question', 'How?'],
        ['Answer', 'Like\nthis.'],
      ],
      [['Question', 'Why?']],
      [
        ['Question', 'When?'],
        ['Answer', 'now'],
        ['', 'extra'],
      ],
    ]);
  });

  it.each([
    ['windows-1252', ';'],
    ['utf16-le', ';'],
    ['utf-8', '\t'],
    ['utf-8', ','],
  ] as const)(
    'long quoted answers full of commas stay in their cells in a CSV file of encoding %s with delimiter %s',
    async (encoding, delimiter) => {
      const answer = (at: number): string =>
        `Type ${at} ends online, by letter, or in a branch; it takes ${at} days.\n${'Bring cards, keys, and papers; else fees, and costs, fall due. '.repeat(25).trim()}`;
      const line = (...cells: string[]): string => `${cells.map((cell) => `"${cell}"`).join(delimiter)}\r\n`;
      const lines = Array.from({ length: 60 }, (_, at) =>
        line(`How do I end type ${at}, online, or by letter?`, answer(at)),
      );
      const source = iconv.encode(line('Question', 'Answer') + lines.join(''), encoding, {
        addBOM: encoding === 'utf16-le',
      });
      const found = rows(await readHere(source, 'csv'));
      expect(found).toHaveLength(60);
      expect(found[59]).toEqual([
        ['Question', 'How do I end type 59, online, or by letter?'],
        ['Answer', answer(59)],
      ]);
    },
  );

  it('the delimiter in the first row of a CSV file counts more than the commas in the cells below', async () => {
    const source = 'Plan;Includes\nBasic;calls, texts, mail\nFamily;calls, texts, films\n';
    expect(rows(await readHere(source, 'csv'))[1]).toEqual([
      ['Plan', 'Family'],
      ['Includes', 'calls, texts, films'],
    ]);
  });

  it('text below a price table is not read as a row of that table, with or without a blank row between', async () => {
    const source =
      'Item,Price\nKayak,8\nTandem,5\nScooter,3\nRemarks,All prices include VAT\n,\nContact,+49 381 555 77\n';
    expect(rows(await readHere(source, 'csv')).slice(2)).toEqual([
      [
        ['Item', 'Scooter'],
        ['Price', '3'],
      ],
      [['Remarks', 'All prices include VAT']],
      [['Contact', '+49 381 555 77']],
    ]);
  });

  it('a table below another table with other columns does not take the column names of the first one', async () => {
    const source = 'Item,Price,Deposit\nTandem,5,20\nScooter,3,10\n,,\nAnn,West pier,red\nTom,East pier,blue\n';
    expect(rows(await readHere(source, 'csv')).slice(2)).toEqual([
      ['Ann', 'West pier', 'red'].map((cell) => ['', cell]),
      ['Tom', 'East pier', 'blue'].map((cell) => ['', cell]),
    ]);
  });

  it.each<[string, string, string[]]>([
    [
      'two columns',
      'Item,Price in EUR\nTandem,5\n\nKayak,8\n',
      ['Item: Tandem; Price in EUR: 5', 'Item: Kayak; Price in EUR: 8'],
    ],
    [
      'a last cell left free',
      'Item,Price,Deposit\nTandem,5,20\n,,\nKayak,8,\n',
      ['Item: Tandem; Price: 5; Deposit: 20', 'Item: Kayak; Price: 8'],
    ],
    [
      'a title of its own',
      'Item,Price\nTandem,5\n\nWinter\nKayak,8\n',
      ['Item: Tandem; Price: 5', 'Winter', 'Item: Kayak; Price: 8'],
    ],
    [
      'hours and addresses',
      'Item,Price,Deposit\nTandem,5,20\n\nOpen,9:00-17:00,\nMail,a@b.example,\n',
      ['Item: Tandem; Price: 5; Deposit: 20', 'Open: 9:00-17:00', 'Mail: a@b.example'],
    ],
    [
      'words',
      'Team,Lead,Deputy\nSales,Ann,Tom\n\nCare,Eva,Max\n\nMail,a@b.example\n',
      ['Team: Sales; Lead: Ann; Deputy: Tom', 'Team: Care; Lead: Eva; Deputy: Max', 'Mail: a@b.example'],
    ],
    [
      'a wider table',
      'Team,Lead,Deputy\nSales,Ann,Tom\n\nFeature,Basic,Premium,Gold\nSupport,by letter,by phone,by visit\n',
      ['Team: Sales; Lead: Ann; Deputy: Tom', 'Feature: Support; Basic: by letter; Premium: by phone; Gold: by visit'],
    ],
  ])('CSV rows after a blank row are assigned to the right table: %s', async (_label, source, expected) =>
    expect(lines(await readHere(source, 'csv'))).toEqual(expected),
  );

  it('two CSV columns without a header are read as name and value', async () => {
    expect(rows(await readHere('Opening,9:00\nClosing,18:00\n', 'csv'))).toEqual([
      [['Opening', '9:00']],
      [['Closing', '18:00']],
    ]);
  });
});

describe('XLSX', () => {
  const number = (reference: string, style: number, value: string): string =>
    `<c r="${reference}" s="${style}"><v>${value}</v></c>`;
  const styles =
    '<numFmts count="3"><numFmt numFmtId="166" formatCode="dd.mm.yyyy\\ hh:mm:ss"/><numFmt numFmtId="164" formatCode="#,##0.00\\ &quot;EUR&quot;"/><numFmt numFmtId="165" formatCode="dd.mm.yyyy\\ hh:mm"/></numFmts>' +
    '<cellXfs count="9"><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="10"/><xf numFmtId="14"/><xf numFmtId="165"/><xf numFmtId="999"/><xf numFmtId="21"/><xf numFmtId="166"/><xf numFmtId="45"/></cellXfs>';
  it.each([
    ['a plain number', number('B2', 0, '0.30000000000000004'), '0.3'],
    ['a currency', number('B2', 1, '1249.5'), '1,249.50 EUR'],
    ['a percentage', number('B2', 2, '0.0345'), '3.45%'],
    ['a date', number('B2', 3, '46082'), '2026-03-01'],
    ['a date with time', number('B2', 4, '46082.604166666664'), '2026-03-01 14:30'],
    ['a time with seconds', number('B2', 6, '0.60434027778'), '14:30:15'],
    ['a date with seconds', number('B2', 7, '46082.60434027778'), '2026-03-01 14:30:15'],
    ['minutes and seconds', number('B2', 8, '0.00434027778'), '00:06:15'],
    ['a format it does not know', number('B2', 5, '7'), '7'],
    ['a truth value', '<c r="B2" t="b"><v>1</v></c>', 'yes'],
    ['a formula with a stored result', '<c r="B2" t="str"><f>A1&amp;"x"</f><v>result</v></c>', 'result'],
    ['rich text', '<c r="B2" t="inlineStr"><is><r><t>one </t></r><r><t>two</t></r></is></c>', 'one two'],
    [
      'a superscript',
      '<c r="B2" t="inlineStr"><is><r><t>49</t></r><r><rPr><vertAlign val="superscript"/></rPr><t>1</t></r><r><t> EUR 2</t></r></is></c>',
      '49¹ EUR 2',
    ],
  ])('an XLSX cell is read as Excel shows the cell: %s', async (_label, cell, shown) => {
    const table = `<row r="1">${bad.textCell('A1', 'Service')}${bad.textCell('B1', 'Price')}</row><row r="2">${bad.textCell('A2', 'Gold')}${cell}</row>`;
    expect(rows(await readHere(bad.makeXlsx({ rows: table, styles }), 'xlsx'))).toEqual([
      [
        ['Service', 'Gold'],
        ['Price', shown],
      ],
    ]);
  });

  const sheetRow = (number: number, cells: Record<string, string>, attributes = ''): string =>
    `<row r="${number}" ${attributes}>${Object.entries(cells)
      .map(([column, text]) => bad.textCell(`${column}${number}`, text))
      .join('')}</row>`;
  const merged = (...references: string[]): string =>
    `<mergeCells>${references.map((reference) => `<mergeCell ref="${reference}"/>`).join('')}</mergeCells>`;
  it('a merged XLSX cell is repeated in every row and column that it covers, but a merged title is read once', async () => {
    const source = bad.makeXlsx({
      rows: [
        sheetRow(1, { A: 'Plans of this year' }),
        sheetRow(2, { A: 'Plan', B: 'Where', C: 'Weekday', D: 'Sunday' }),
        sheetRow(3, { A: 'Basic', B: 'Online', C: '1 EUR', D: '2 EUR' }),
        sheetRow(4, { B: 'Branch', C: '4 EUR' }),
      ].join(''),
      after: merged('A1:D1', 'A3:A4', 'C4:D4', 'A9:XFD1048576', 'nonsense'),
    });
    expect(lines(await readHere(source, 'xlsx'))).toEqual([
      'Fees',
      'Plans of this year',
      'Plan: Basic; Where: Online; Weekday: 1 EUR; Sunday: 2 EUR',
      'Plan: Basic; Where: Branch; Weekday: 4 EUR; Sunday: 4 EUR',
    ]);
  });

  it('a merged XLSX cell is not repeated in columns that exist only because of the merge, nor when its text is long', async () => {
    const long = 'Bring your card. '.repeat(20).trim();
    const source = bad.makeXlsx({
      rows: [
        sheetRow(1, { A: 'Question', B: 'Answer', E: 'Since' }),
        sheetRow(2, { A: 'How do I pay?', B: long, E: '2024' }),
        sheetRow(3, { A: 'How do I leave?', B: 'By letter.', E: '2025' }),
      ].join(''),
      after: merged('B1:D1', 'B2:D2', 'B3:D3', 'B2:B3'),
    });
    expect(lines(await readHere(source, 'xlsx'))).toEqual([
      'Fees',
      `Question: How do I pay?; Answer: ${long}; Since: 2024`,
      'Question: How do I leave?; Answer: By letter.; Since: 2025',
    ]);
  });

  it('two XLSX header rows with merged cells become one header row', async () => {
    const source = bad.makeXlsx({
      rows: [
        sheetRow(1, { A: 'Tariff', B: 'Domestic', D: 'Abroad' }),
        sheetRow(2, { B: 'Call', C: 'SMS', D: 'Call', E: 'SMS' }),
        sheetRow(3, { A: 'Mini', B: '0.05', C: '0.02', D: '0.5', E: '0.2' }),
      ].join(''),
      after: merged('A1:A2', 'B1:C1', 'D1:E1'),
    });
    expect(lines(await readHere(source, 'xlsx'))).toEqual([
      'Fees',
      'Tariff: Mini; Domestic Call: 0.05; Domestic SMS: 0.02; Abroad Call: 0.5; Abroad SMS: 0.2',
    ]);
  });

  it('hidden XLSX rows, columns and values are skipped, except a cell that is merged from a hidden row into a visible row', async () => {
    const source = bad.makeXlsx({
      before: '<cols><col min="3" max="3" hidden="1"/></cols>',
      styles:
        '<numFmts count="1"><numFmt numFmtId="164" formatCode=";;;"/></numFmts><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="164"/></cellXfs>',
      rows: [
        sheetRow(1, { A: 'Plan', B: 'Fee', C: 'Cost to us', D: 'Since' }),
        sheetRow(2, { A: 'Staff', B: '0 EUR', C: '0', D: '2024' }, 'hidden="1"'),
        sheetRow(3, { B: '4 EUR', C: '0.2', D: '2025' }),
        `<row r="4">${bad.textCell('A4', 'Family')}${number('B4', 1, '77')}${bad.textCell('D4', '2026')}</row>`,
      ].join(''),
      after: merged('A2:A3'),
    });
    expect(lines(await readHere(source, 'xlsx'))).toEqual([
      'Fees',
      'Plan: Staff; Fee: 4 EUR; Since: 2025',
      'Plan: Family; Since: 2026',
    ]);
  });

  it('XLSX cells and rows without references are read in order, under the right column names', async () => {
    const cells = (...texts: string[]): string =>
      `<row>${texts.map((text) => `<c t="inlineStr"><is><t>${text}</t></is></c>`).join('')}</row>`;
    const source = bad.makeXlsx({ rows: cells('Plan', 'Fee') + cells('Basic', '4 EUR') + cells('Family', '7 EUR') });
    expect(rows(await readHere(source, 'xlsx'))).toEqual([
      [
        ['Plan', 'Basic'],
        ['Fee', '4 EUR'],
      ],
      [
        ['Plan', 'Family'],
        ['Fee', '7 EUR'],
      ],
    ]);
  });

  it('XLSX rows and columns of collapsed groups are read, and rows and columns hidden one by one are not', async () => {
    const source = bad.makeXlsx({
      before:
        '<cols><col min="2" max="2" outlineLevel="1" hidden="1"/><col min="3" max="3" collapsed="1"/><col min="4" max="4" hidden="1"/></cols>',
      rows: [
        sheetRow(1, { A: 'Plan', B: 'Fee', C: 'Since', D: 'Cost' }),
        sheetRow(2, { A: 'Basic', B: '1 EUR', C: '2021', D: '0' }, 'outlineLevel="1" hidden="1"'),
        sheetRow(3, { A: 'Student', B: '2 EUR', C: '2022', D: '0' }, 'outlineLevel="2" hidden="1"'),
        sheetRow(4, { A: 'Private', B: '3 EUR', C: '2023', D: '0' }, 'collapsed="1"'),
        sheetRow(5, { A: 'Shop', B: '4 EUR', C: '2024', D: '0' }, 'outlineLevel="1"'),
        sheetRow(6, { A: 'Staff', B: '5 EUR', C: '2025', D: '0' }, 'outlineLevel="1" hidden="1"'),
        sheetRow(7, { A: 'Old', B: '6 EUR', C: '2026', D: '0' }, 'hidden="1"'),
      ].join(''),
    });
    expect(lines(await readHere(source, 'xlsx'))).toEqual([
      'Fees',
      'Plan: Basic; Fee: 1 EUR; Since: 2021',
      'Plan: Student; Fee: 2 EUR; Since: 2022',
      'Plan: Private; Fee: 3 EUR; Since: 2023',
      'Plan: Shop; Fee: 4 EUR; Since: 2024',
    ]);
  });

  it('the names of XLSX columns without values are read once, after the table', async () => {
    const source = bad.makeXlsx({
      rows: [
        sheetRow(1, { A: 'Plan', B: 'Fee', C: 'Cash back', D: 'Insurance' }),
        sheetRow(2, { A: 'Basic', B: '4 EUR' }),
        sheetRow(4, { A: 'Family', B: '7 EUR' }),
      ].join(''),
    });
    expect(lines(await readHere(source, 'xlsx'))).toEqual([
      'Fees',
      'Plan: Basic; Fee: 4 EUR',
      'Plan: Family; Fee: 7 EUR',
      'Cash back; Insurance',
    ]);
  });

  it('the workbook of an XLSX is found by the relationships in the file when its part has an unusual name', async () => {
    const source = bad.renamedXlsx(sheetRow(1, { A: 'Plan', B: 'Fee' }) + sheetRow(2, { A: 'Basic', B: '4 EUR' }));
    const path = join(folder, 'renamed.xlsx');
    await writeFile(path, source);
    expect(await sniffFile(path, 'fees.xlsx')).toBe('xlsx');
    await expect(sniffFile(path, 'fees.docx')).rejects.toMatchObject({ code: 'UNSUPPORTED_FILE_TYPE' });
    expect(lines(await readHere(source, 'xlsx'))).toEqual(['Fees', 'Plan: Basic; Fee: 4 EUR']);
  });

  it('an uncalculated XLSX formula makes the file unreadable only when the formula’s row is visible', async () => {
    const formula = '<c r="B3"><f>B2*2</f><v></v></c>';
    const table = (attributes: string): Buffer =>
      bad.makeXlsx({
        rows: `${sheetRow(1, { A: 'Plan', B: 'Fee' })}${sheetRow(2, { A: 'Basic', B: '4 EUR' })}<row r="3" ${attributes}>${bad.textCell('A3', 'Both')}${formula}</row>`,
      });
    expect(lines(await readHere(table('hidden="1"'), 'xlsx'))).toEqual(['Fees', 'Plan: Basic; Fee: 4 EUR']);
    expect(await reasonOf(readHere(table(''), 'xlsx'))).toBe('uncalculated');
  });

  it('an uncalculated XLSX formula is an empty cell when other formulas have results', async () => {
    const source = bad.makeXlsx({
      rows: `${sheetRow(1, { A: 'Plan', B: 'Fee' })}<row r="2">${bad.textCell('A2', 'Basic')}<c r="B2"><f>2+2</f><v>4</v></c></row><row r="3">${bad.textCell('A3', 'Both')}<c r="B3"><f>IF(A9="","",A9)</f></c></row>`,
    });
    expect(lines(await readHere(source, 'xlsx'))).toEqual(['Fees', 'Plan: Basic; Fee: 4', 'Plan: Both']);
  });

  it('the first row of an XLSX sheet is a header even when all cells of the sheet are words', async () => {
    const source = bad.makeXlsx({
      rows: `${sheetRow(1, { A: 'Feature', B: 'Basic', C: 'Premium' })}${sheetRow(2, { A: 'Support', B: 'by letter', C: 'by phone' })}`,
    });
    expect(lines(await readHere(source, 'xlsx'))).toEqual([
      'Fees',
      'Feature: Support; Basic: by letter; Premium: by phone',
    ]);
  });

  it('in an XLSX sheet with a million empty styled rows, the two rows with content are read', async () => {
    expect(rows(await readHere(bad.millionRowsXlsx(), 'xlsx'))).toEqual([
      [
        ['Service', 'Gold card'],
        ['Price', '59 EUR'],
      ],
    ]);
  });
});

describe('DOCX', () => {
  const run = (text: string, properties = ''): string =>
    `<w:r>${properties && `<w:rPr>${properties}</w:rPr>`}<w:t xml:space="preserve">${text}</w:t></w:r>`;
  const text = async (body: string, more: readonly bad.ZipEntry[] = []): Promise<string[]> => {
    const blocks = await readHere(bad.makeDocx(bad.wordDocument(body), more), 'docx');
    return blocks.map((block) => (block.kind === 'row' ? JSON.stringify(block.cells) : block.text));
  };

  it('a merged cell in a DOCX is repeated in every row and column that it covers', async () => {
    const cell = (content: string, properties = ''): string =>
      `<w:tc><w:tcPr>${properties}</w:tcPr>${bad.paragraph(content)}</w:tc>`;
    const restart = '<w:vMerge w:val="restart"/>';
    const table = [
      ['Card', 'Where', 'Weekday', 'Sunday'].map((name) => cell(name)),
      [cell('Gold', restart), cell('Online'), cell('10 EUR'), cell('12 EUR')],
      [cell('', '<w:vMerge/>'), cell('Branch'), cell('25 EUR', '<w:gridSpan w:val="2"/>')],
    ].map((cells) => `<w:tr>${cells.join('')}</w:tr>`);
    expect(rows(await readHere(bad.makeDocx(bad.wordDocument(`<w:tbl>${table.join('')}</w:tbl>`)), 'docx'))[1]).toEqual(
      [
        ['Card', 'Gold'],
        ['Where', 'Branch'],
        ['Weekday', '25 EUR'],
        ['Sunday', '25 EUR'],
      ],
    );
  });

  it('hidden text in a DOCX is dropped: hidden directly, by a style, by an inherited style, or by its row', async () => {
    const styles = bad.wordPart(
      'styles',
      '<w:style w:type="character" w:styleId="Base"><w:rPr><w:vanish/></w:rPr></w:style>' +
        '<w:style w:type="character" w:styleId="Note"><w:basedOn w:val="Base"/></w:style>' +
        '<w:style w:type="paragraph" w:styleId="Draft"><w:basedOn w:val="Base"/></w:style>',
    );
    const row = (content: string, properties = ''): string =>
      `<w:tr><w:trPr>${properties}</w:trPr><w:tc>${bad.paragraph(content)}</w:tc><w:tc>${bad.paragraph('x')}</w:tc></w:tr>`;
    const body = [
      `<w:p>${run('A loan costs 5 percent.')}${run(' SECRET a', '<w:vanish/>')}${run(' Ask us.', '<w:vanish w:val="0"/>')}</w:p>`,
      `<w:p>${run('SECRET b', '<w:rStyle w:val="Note"/>')}${run('A card is free.')}</w:p>`,
      `<w:p><w:pPr><w:pStyle w:val="Draft"/></w:pPr>${run('SECRET c ')}${run('Shown.', '<w:vanish w:val="false"/>')}</w:p>`,
      // A paragraph mark may be hidden without hiding the paragraph's text.
      `<w:p><w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr>${run('The end.')}</w:p>`,
      `<w:tbl>${row('Open')}${row('SECRET d', '<w:hidden/>')}</w:tbl>`,
    ].join('');
    expect(await text(body, [styles])).toEqual([
      'A loan costs 5 percent. Ask us.',
      'A card is free.',
      'Shown.',
      'The end.',
      '[["Open","x"]]',
    ]);
  });

  it('struck-out text in a DOCX is dropped, and text where striking out is turned off stays', async () => {
    const body = [
      `<w:p>${run('Refunds within 30 days. ', '<w:strike/>')}${run('Refunds within 14 days.', '<w:strike w:val="false"/>')}</w:p>`,
      `<w:p>${run('It costs ')}${run('5 ', '<w:dstrike/>')}${run('SECRET ', '<w:vanish/><w:strike w:val="0"/>')}${run('7 EUR.')}</w:p>`,
    ].join('');
    expect(await text(body)).toEqual(['Refunds within 14 days.', 'It costs 7 EUR.']);
  });

  it('a superscript in a DOCX is not glued to the number before it', async () => {
    const body = `<w:p>${run('The fee is 49')}${run('1', '<w:vertAlign w:val="superscript"/>')}${run(' EUR, H')}${run('2', '<w:vertAlign w:val="subscript"/>')}${run('O is free.')}</w:p>`;
    expect(await text(body)).toEqual(['The fee is 49¹ EUR, H2O is free.']);
  });

  it('the text of a footnote or endnote is inserted into the paragraph that refers to it, without the reference number', async () => {
    const mark = (id: number, kind = 'footnote'): string => `<w:r><w:${kind}Reference w:id="${id}"/></w:r>`;
    const note = (id: number, content: string, kind = 'footnote'): string =>
      `<w:${kind} w:id="${id}"><w:p><w:r><w:${kind}Ref/></w:r>${run(content)}</w:p></w:${kind}>`;
    const notes = [
      bad.wordPart(
        'footnotes',
        note(2, ' Skis count only in winter.') + note(3, ' without VAT') + note(4, 'Since May.'),
      ),
      bad.wordPart('endnotes', note(2, 'Ask for &lt;details&gt;.', 'endnote')),
      bad.wordPart('styles', '<w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/></w:style>'),
    ];
    const body = [
      `<w:p><w:pPr><w:pStyle w:val="H1"/></w:pPr>${run('Luggage')}${mark(4)}</w:p>`,
      `<w:p>${run('We cover 2,000 EUR.')}${mark(2)}${mark(2, 'endnote')}</w:p>`,
      `<w:p>${run('It costs 9 EUR')}${mark(3)}${run(' a year')}</w:p>`,
      `<w:p>${run('Lost notes are lost.')}${mark(99)}</w:p>`,
    ].join('');
    expect(await text(body, notes)).toEqual([
      'Luggage',
      'Since May.',
      'We cover 2,000 EUR. Skis count only in winter. Ask for <details>.',
      'It costs 9 EUR a year (without VAT)',
      'Lost notes are lost.',
    ]);
  });

  const shape = 'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"';
  const versions = (choice: string, fallback: string): string =>
    `<w:r><mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><mc:Choice Requires="wps">${choice}</mc:Choice><mc:Fallback>${fallback}</mc:Fallback></mc:AlternateContent></w:r>`;
  const box = (content: string): string =>
    `<w:drawing><wps:wsp ${shape}><wps:txbx><w:txbxContent>${bad.paragraph(content)}</w:txbxContent></wps:txbx></wps:wsp></w:drawing>`;
  const oldBox = (content: string): string =>
    `<w:pict xmlns:v="urn:schemas-microsoft-com:vml"><v:oval><v:textbox><w:txbxContent>${bad.paragraph(content)}</w:txbxContent></v:textbox></v:oval></w:pict>`;
  const field = (type: string): string => `<w:r><w:fldChar w:fldCharType="${type}"/></w:r>`;
  it.each<[string, string, string[]]>([
    ['a simple field', `<w:fldSimple w:instr=" REF fee ">${run('59 EUR')}</w:fldSimple>`, ['A 59 EUR B']],
    [
      'a field with marks',
      `${field('begin')}<w:r><w:instrText> REF fee </w:instrText></w:r>${field('separate')}${run('59 EUR')}${field('end')}`,
      ['A 59 EUR B'],
    ],
    [
      'another direction',
      `<w:dir w:val="rtl">${run('one ')}<w:bdo w:val="ltr">${run('two')}</w:bdo></w:dir>`,
      ['A one two B'],
    ],
    [
      'ruby',
      `<w:r><w:ruby><w:rubyPr/><w:rt>${run('かな')}</w:rt><w:rubyBase>${run('漢字')}</w:rubyBase></w:ruby></w:r>`,
      ['A 漢字 B'],
    ],
    ['a smart tag', `<w:smartTag><w:smartTagPr/>${run('Potsdam')}</w:smartTag>`, ['A Potsdam B']],
    [
      'a content control',
      `<w:sdt><w:sdtPr><w:alias w:val="x"/></w:sdtPr><w:sdtContent>${run('x')}</w:sdtContent></w:sdt>`,
      ['A x B'],
    ],
    ['custom XML', `<w:customXml w:element="a">${run('x')}</w:customXml>`, ['A x B']],
    [
      'revisions',
      `<w:del><w:r><w:delText>old</w:delText></w:r></w:del><w:moveFrom>${run('from')}</w:moveFrom><w:ins>${run('new, ')}</w:ins><w:moveTo>${run('to')}</w:moveTo>`,
      ['A new, to B'],
    ],
    ['a line break of an old program', '<w:r><w:t>one</w:t><w:cr/><w:t>two</w:t></w:r>', ['A one\ntwo B']],
    ['a letter chosen as a symbol', '<w:r><w:sym w:font="Calibri" w:char="20AC"/></w:r>', ['A € B']],
    ['a symbol', '<w:r><w:sym w:font="Wingdings" w:char="F0FC"/></w:r>', ['A ✓ B']],
    ['a text box', versions(box('Boxed.'), oldBox('Boxed.')), ['A  B', 'Boxed.']],
    ['a text box of one version', versions(box('Boxed.'), ''), ['A  B', 'Boxed.']],
    ['a text box of old programs', versions('', oldBox('Boxed.')), ['A  B', 'Boxed.']],
    ['a text box in an unknown shape', `<w:r>${oldBox('Boxed.')}</w:r>`, ['A  B', 'Boxed.']],
  ])('text in a DOCX that stands in %s is kept in its place', async (_label, content, expected) => {
    const found = await text(`<w:p>${run('A ')}${content}${run(' B')}</w:p>`);
    expect(found).toEqual(expected.map((line) => line.replace('  ', ' ')));
  });

  it('a field in a DOCX ends correctly when its end stands in hidden text that is dropped', async () => {
    const hidden = '<w:r><w:rPr><w:vanish/></w:rPr><w:t>SECRET</w:t><w:fldChar w:fldCharType="end"/></w:r>';
    const link = '<w:r><w:instrText> HYPERLINK "https://bank.example/form" </w:instrText></w:r>';
    expect(
      await text(
        `<w:p>${field('begin')}${link}${field('separate')}${run('the form')}${hidden}${run(' by post')}</w:p>`,
      ),
    ).toEqual(['the form (https://bank.example/form) by post']);
  });

  it('a picture in a DOCX is replaced by its alternative text', async () => {
    const picture = `<w:drawing><wp:inline xmlns:wp="urn:wp"><wp:docPr id="1" name="Picture 1" descr="the map"/><a:blip xmlns:a="urn:a"/></wp:inline></w:drawing>`;
    expect(await text(`<w:p>${run('See')}<w:r>${picture}</w:r>${run('of us.')}</w:p>`)).toEqual(['See the map of us.']);
  });

  it('the parts of a DOCX are found by the relationships in the file when they have unusual names, also in strict OOXML', async () => {
    const strict = 'http://purl.oclc.org/ooxml/officeDocument/relationships';
    const relation = (type: string, target: string): string =>
      `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="${strict}/${type}" Target="${target}"/></Relationships>`;
    const document = bad.wordDocument(
      `<w:p><w:pPr><w:pStyle w:val="H"/></w:pPr>${run('Fees')}</w:p>${bad.paragraph('59 EUR')}`,
    );
    const styles = bad.wordPart(
      'styles',
      '<w:style w:type="paragraph" w:styleId="H"><w:name w:val="heading 1"/></w:style>',
    );
    const source = bad.makeZip([
      { name: '_rels/.rels', data: Buffer.from(relation('officeDocument', 'word/document2.xml')) },
      { name: 'word/_rels/document2.xml.rels', data: Buffer.from(relation('styles', 'looks.xml')) },
      { name: 'word/document2.xml', data: Buffer.from(document) },
      { name: 'word/looks.xml', data: styles.data },
    ]);
    expect(await readHere(source, 'docx')).toEqual([
      { kind: 'heading', level: 1, text: 'Fees' },
      { kind: 'text', text: '59 EUR' },
    ]);
  });

  it('a DOCX of 47,500 one-word runs is read within the memory limit of a reader', async () => {
    const blocks = await read(bad.wordyDocx(47_500), 'docx');
    expect(blocks.flatMap((block) => (block.kind === 'text' ? block.text.split(' ') : []))).toHaveLength(47_500);
  });

  it.each([
    ['in another encoding', Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><a>Größe</a>', 'latin1')],
    ['with a document type', Buffer.from('<!DOCTYPE html><html><body>x</body></html>')],
    ['that is empty', Buffer.alloc(0)],
  ])('a DOCX is read although it has an unused part %s', async (_label, data) => {
    expect(await text(bad.paragraph('Read me.'), [{ name: 'customXml/item9.xml', data }])).toEqual(['Read me.']);
  });
});

describe('unreadable files', () => {
  it.each<[string, FileType, () => Buffer, UnreadableReason]>([
    ['an entry larger than it claims', 'docx', bad.lyingDocx, 'broken'],
    ['a password', 'docx', () => readFileSync(fixture('encrypted.docx')), 'encrypted'],
    ['a password on an XLSX', 'xlsx', () => readFileSync(fixture('encrypted.docx')), 'encrypted'],
    ['Word 97', 'docx', () => Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(5_000)]), 'legacy'],
    ['a truncated XLSX', 'xlsx', bad.truncatedXlsx, 'broken'],
    ['invalid XML in an XLSX', 'xlsx', bad.invalidXmlXlsx, 'broken'],
    ['invalid XML in a DOCX', 'docx', bad.invalidXmlDocx, 'broken'],
    ['an XLSX without a workbook', 'xlsx', bad.hollowXlsx, 'broken'],
    ['an XLSX of one far cell', 'xlsx', bad.farCellXlsx, 'too_wide'],
    ['an XLSX without content', 'xlsx', () => bad.makeXlsx({}), 'empty'],
    ['a DOCX without text', 'docx', () => bad.makeDocx(bad.wordDocument('<w:p/>')), 'empty'],
    ['binary data after text', 'txt', bad.binaryTail, 'binary'],
    ['binary data', 'csv', bad.binaryText, 'binary'],
    ['an archive as text', 'md', () => bad.makeXlsx({}), 'binary'],
    ['blanks', 'txt', () => Buffer.from(' \n\t\n'), 'empty'],
    ['a quotation mark never closed', 'csv', bad.unclosedQuoteCsv, 'bad_quotes'],
  ])('the readers refuse a small unreadable file with its reason: %s (%s)', async (_label, type, make, reason) => {
    expect(await reasonHere(make(), type)).toBe(reason);
  });

  it.each<[string, FileType, () => Buffer, UnreadableReason]>([
    ['a zip bomb', 'docx', bad.zipBombDocx, 'bomb'],
    ['6,000 entries', 'docx', bad.tooManyEntriesDocx, 'bomb'],
    ['entities that multiply in a DOCX', 'docx', bad.billionLaughsDocx, 'broken'],
    ['entities that multiply in an XLSX', 'xlsx', bad.billionLaughsXlsx, 'broken'],
    ['20,000 tables inside each other', 'docx', bad.deepDocx, 'too_deep'],
    ['20,000 fields inside each other', 'docx', bad.deepFieldsDocx, 'too_deep'],
    ['hidden text without end', 'docx', bad.endlessHiddenDocx, 'too_much_text'],
    ['a million cells without references', 'xlsx', bad.placelessXlsx, 'too_wide'],
    ['100,000 merged cells upon each other', 'xlsx', bad.mergedXlsx, 'too_much_text'],
    ['a byte more than 25 MiB', 'txt', bad.tooLargeText, 'too_large'],
    ['12 MiB of text', 'txt', bad.tooMuchText, 'too_much_text'],
    ['100,000 columns', 'csv', bad.wideCsv, 'too_wide'],
    ['a field of 20 MB', 'csv', bad.hugeFieldCsv, 'too_much_text'],
    ['100,000 quotes inside each other', 'md', bad.nestedQuotes, 'too_deep'],
    ['100,000 HTML elements inside each other', 'md', bad.nestedHtml, 'too_deep'],
  ])('an unreadable file is refused with its reason: %s (%s)', async (_label, type, make, reason) => {
    expect(await reasonOf(files.extract(stream(make()), type))).toBe(reason);
  });

  it.each<[string, () => Buffer]>([
    ['100,000 nested brackets', bad.nestedBrackets],
    ['lists 3,000 levels deep', bad.nestedLists],
  ])('a Markdown file of %s is read or refused within the limits', async (_label, make) => {
    const small = createFiles({ program, timeoutMs: 5_000, spares: 0 });
    expect(['read', 'too_deep', 'timed_out', 'out_of_memory']).toContain(
      await reasonOf(small.extract(stream(make()), 'md')),
    );
    await small.close();
  });

  it('a good file is read during and after the reading of a file that is refused', async () => {
    const bomb = reasonOf(files.extract(stream(bad.zipBombDocx()), 'docx'));
    expect(await read('Still here.', 'md')).toEqual([{ kind: 'text', text: 'Still here.' }]);
    expect(await bomb).toBe('bomb');
    expect(await read('And after.', 'md')).toEqual([{ kind: 'text', text: 'And after.' }]);
  });

  it('an archive inside a document is not opened, and the text around it is read', async () => {
    expect(await read(bad.nestedZipBombDocx(), 'docx')).toEqual([
      { kind: 'text', text: 'The outer text is harmless.' },
    ]);
  });
});

describe('limits of the reader process', () => {
  it('a reader process that exceeds its memory is killed, and the file is refused as out_of_memory', async () => {
    const small = createFiles({ program, memoryMb: 130, spares: 0 });
    const text = Buffer.from(Array.from({ length: 300_000 }, (_, at) => `- item ${at}`).join('\n'));
    expect(await reasonOf(small.extract(stream(text), 'md'))).toBe('out_of_memory');
    await small.close();
  });

  it('a reader process that exceeds its time is killed, and the file is refused as timed_out', async () => {
    const quick = createFiles({ program, timeoutMs: 300, spares: 0 });
    const endless = new PassThrough();
    endless.write('never ended');
    expect(await reasonOf(quick.extract(endless, 'txt'))).toBe('timed_out');
    expect(endless.destroyed).toBe(true);
    await quick.close();
  });

  it('a file that is read in the background fails with a retryable error when it got too little processor time', async () => {
    const quick = createFiles({ program, timeoutMs: 100, spares: 0 });
    const reading = quick.extract(new PassThrough(), 'txt', { background: true });
    const error: unknown = await reading.catch((failure: unknown) => failure);
    expect(error).not.toBeInstanceOf(Unreadable);
    expect(error).toMatchObject({ message: expect.stringContaining('too little processor time') });
    await quick.close();
  });

  onLinux('a file read in the background is refused as timed_out when it takes too much processor time', async () => {
    const limits = { maxTextCharacters: 100_000_000 };
    const quick = createFiles({ program, timeoutMs: 1_000, patience: 100, spares: 0, limits });
    const deep = Array.from({ length: 4_500 }, (_, at) => `${'  '.repeat(at)}- item`).join('\n');
    expect(await reasonOf(quick.extract(stream(Buffer.from(deep)), 'md', { background: true }))).toBe('timed_out');
    await quick.close();
  });

  it('the caller’s signal aborts the reading of a file with the signal’s reason', async () => {
    const abort = new AbortController();
    const endless = new PassThrough();
    const reading = files.extract(endless, 'txt', { signal: abort.signal });
    abort.abort(new Error('shutting down'));
    await expect(reading).rejects.toThrow('shutting down');
    await expect(files.extract(endless, 'txt', { signal: abort.signal })).rejects.toThrow('shutting down');
  });

  it('an error of the source stream is rethrown, and does not make the file unreadable', async () => {
    const failing = new Readable({ read: () => undefined });
    const reading = files.extract(failing, 'txt');
    failing.destroy(new Error('the store went away'));
    await expect(reading).rejects.toThrow('the store went away');

    const half = new PassThrough();
    const short = files.extract(half, 'txt');
    half.write('The first half of a file, and then');
    await delay(0);
    half.destroy();
    await expect(short).rejects.toMatchObject({ code: 'ERR_STREAM_PREMATURE_CLOSE' });
    await expect(files.extract(join(folder, 'missing.md'), 'md')).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('a file with text over the limit is refused as too_much_text', async () => {
    const short = createFiles({ program, limits: { maxTextCharacters: 50 }, spares: 0 });
    expect(await reasonOf(short.extract(stream(Buffer.from('A sentence of words. '.repeat(4))), 'md'))).toBe(
      'too_much_text',
    );
    await short.close();
  });

  it('ten files are read at the same time', async () => {
    const texts = Array.from({ length: 10 }, (_, at) => `File number ${at}.`);
    const read = await Promise.all(texts.map((text) => files.extract(stream(Buffer.from(text)), 'txt')));
    expect(read).toEqual(texts.map((text) => [{ kind: 'text', text }]));
  });

  it('a reader has no environment variables and no access to files, processes or threads', async () => {
    const probe = `
      import fs from 'node:fs'; import child from 'node:child_process'; import threads from 'node:worker_threads';
      const attempt = (run) => { try { run(); return 'allowed'; } catch (error) { return error.code ?? error.name; } };
      console.log(JSON.stringify([
        Object.keys(process.env).length,
        attempt(() => fs.readFileSync('/etc/hostname')),
        attempt(() => fs.writeFileSync('/tmp/written', 'x')),
        attempt(() => child.spawnSync('true')),
        attempt(() => new threads.Worker('0', { eval: true })),
        attempt(() => eval('1')),
      ]));`;
    const flags = sandboxFlags(256, [join(dirname(program), '*')]);
    const child = spawn(process.execPath, [...flags, '--input-type=module', '-e', probe], { env: {} });
    const denied = 'ERR_ACCESS_DENIED';
    expect(JSON.parse(await textOf(child.stdout))).toEqual([0, denied, denied, denied, denied, 'EvalError']);
  });

  onLinux('a killed spare reader process is replaced, and killing a busy reader causes a retryable error', async () => {
    const before = new Set(childrenOf(process.pid));
    const own = createFiles({ program });
    const [spare] = childrenOf(process.pid).filter((pid) => !before.has(pid));
    if (spare === undefined) throw new Error('no spare was started');
    process.kill(spare, 'SIGKILL');
    // Waits until the parent has noticed the death, not only until the process is dead.
    await until(() => !existsSync(`/proc/${spare}`));
    expect(await own.extract(stream(Buffer.from('One.')), 'txt')).toHaveLength(1);

    const endless = new PassThrough();
    const known = new Set(childrenOf(process.pid));
    const lone = createFiles({ program, spares: 0 });
    const reading = lone.extract(endless, 'txt').catch((error: unknown) => error);
    const [busy] = childrenOf(process.pid).filter((pid) => !known.has(pid));
    if (busy === undefined) throw new Error('no reader was started');
    process.kill(busy, 'SIGKILL');
    const error = await reading;
    expect(error).not.toBeInstanceOf(Unreadable);
    expect(error).toMatchObject({ message: expect.stringContaining('SIGKILL') });
    await own.close();
    await lone.close();
  });

  onLinux(
    'a file read in the background gets a new low-priority process, and leaves the spare process to other files',
    async () => {
      const before = new Set(childrenOf(process.pid));
      const own = createFiles({ program, spares: 1 });
      const [spare] = childrenOf(process.pid).filter((pid) => !before.has(pid));
      const reading = own.extract(new PassThrough(), 'txt', { background: true }).catch((error: unknown) => error);
      const others = childrenOf(process.pid).filter((pid) => !before.has(pid) && pid !== spare);
      expect(others).toHaveLength(1);
      expect(getPriority(others[0])).toBeGreaterThan(getPriority(spare));
      // Where the kernel schedules by session (autogroup), the session of this process has the low priority too.
      const autogroup = `/proc/${others[0]}/autogroup`;
      const niceInSession = new RegExp(` nice ${patientNiceness}$`, 'm');
      if (existsSync(autogroup)) await until(() => niceInSession.test(readFileSync(autogroup, 'utf8')));
      expect(sessionOf(others[0]!)).not.toBe(sessionOf(process.pid));
      expect(sessionOf(spare!)).toBe(sessionOf(process.pid));
      await own.close();
      expect(await reading).toMatchObject({ message: expect.stringContaining('SIGKILL') });
    },
  );

  onLinux('close() ends idle and working readers, and later files are refused', async () => {
    const before = new Set(childrenOf(process.pid));
    const own = createFiles({ program, spares: 2 });
    const reading = own.extract(new PassThrough(), 'txt').catch((error: unknown) => error);
    const started = childrenOf(process.pid).filter((pid) => !before.has(pid));
    expect(started.length).toBe(2);
    await own.close();
    expect(started.filter(running)).toEqual([]);
    expect(await reading).toMatchObject({ message: expect.stringContaining('SIGKILL') });
    await expect(own.extract(stream(Buffer.from('x')), 'txt')).rejects.toThrow('closed');
  });
});

describe('the exit of the parent process', () => {
  const script = `
    import { createFiles } from ${JSON.stringify(new URL('../../clients/files/files.ts', import.meta.url).href)};
    import { PassThrough } from 'node:stream';
    const files = createFiles({ program: ${JSON.stringify(program)}, spares: 2 });
    if (process.argv.includes('--busy')) files.extract(new PassThrough(), 'txt').catch(() => undefined);
    console.log('started');
  `;
  const startParent = (...args: string[]) =>
    spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', script, '--', ...args], { env: {} });

  onLinux('a SIGKILL of the parent process leaves no idle or working reader behind', async () => {
    const parent = startParent('--busy');
    await new Promise((resolve) => parent.stdout.once('data', resolve));
    const readers = childrenOf(parent.pid ?? 0);
    expect(readers).toHaveLength(2);
    parent.kill('SIGKILL');
    await until(() => !readers.some(running));
  });

  it('the exit of the parent process is not prevented by idle readers', async () => {
    const parent = startParent();
    const code = await new Promise((resolve) => parent.once('exit', resolve));
    expect(code).toBe(0);
  });
});

describe('sniffFile', () => {
  const upload = async (bytes: Buffer, filename: string): Promise<FileType | [string, string | undefined]> => {
    const path = join(folder, 'upload');
    await writeFile(path, bytes);
    return sniffFile(path, filename).catch((error: unknown) => {
      if (error instanceof Problem) return [error.code, error.details?.[0]?.message];
      throw error;
    });
  };

  it.each<[string, string, () => Buffer | Promise<Buffer>, FileType]>([
    ['a DOCX', 'cards.docx', () => readFile(fixture('cards.docx')), 'docx'],
    ['an XLSX', 'fees.xlsx', () => readFile(fixture('fees.xlsx')), 'xlsx'],
    ['a protected DOCX, which only reading refuses', 'a.docx', () => readFile(fixture('encrypted.docx')), 'docx'],
    ['a truncated XLSX, which only reading refuses', 'a.xlsx', bad.truncatedXlsx, 'xlsx'],
    ['a bomb, without unpacking it', 'a.docx', bad.zipBombDocx, 'docx'],
    ['text', 'a.txt', () => Buffer.from('text'), 'txt'],
    ['a file of exactly 25 MiB', 'a.txt', () => bad.tooLargeText().subarray(0, maxFileBytes), 'txt'],
    [
      'a text with a character cut where the first bytes end',
      'a.txt',
      () => Buffer.from(`${'a'.repeat(headBytes - 1)}äöü`),
      'txt',
    ],
  ])('sniffFile accepts %s', async (_label, filename, make, type) =>
    expect(await upload(await make(), filename)).toBe(type),
  );

  it.each<[string, string, () => Buffer, string, RegExp]>([
    ['an empty file', 'a.md', () => Buffer.alloc(0), 'VALIDATION', /empty/],
    ['a file one byte over 25 MiB', 'a.txt', bad.tooLargeText, 'TOO_LARGE', /25 MiB/],
    ['a renamed PDF', 'a.docx', bad.pdf, 'UNSUPPORTED_FILE_TYPE', /PDF/],
    ['a renamed DOCX', 'a.xlsx', () => bad.makeDocx(bad.wordDocument('')), 'UNSUPPORTED_FILE_TYPE', /Word/],
    [
      'a plain archive',
      'a.docx',
      () => bad.makeZip([{ name: 'a', data: Buffer.from('a') }]),
      'UNSUPPORTED_FILE_TYPE',
      /ZIP/,
    ],
    ['binary data', 'a.csv', bad.binaryText, 'UNSUPPORTED_FILE_TYPE', /binary/],
  ])('sniffFile refuses %s', async (_label, filename, make, code, message) => {
    expect(await upload(make(), filename)).toEqual([code, expect.stringMatching(message)]);
  });
});
