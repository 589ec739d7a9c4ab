/**
 * Makes files that attack a file reader: compression bombs, broken and mislabelled files, odd encodings, absurd sizes.
 * They are built in memory by separate writers, so that no library reads its own output. Only
 * `test/fixtures/encrypted.docx` (password-protected, made by msoffcrypto-tool) is stored.
 */
import { crc32, deflateRawSync } from 'node:zlib';

export type ZipEntry = {
  name: string;
  data: Buffer;
  /** A false uncompressed size for the headers. */
  claimedSize?: number;
  /** Points the directory entry at the data of another entry, so that the entries overlap. */
  sameDataAs?: number;
};

/** A deflated ZIP archive. The entries are deliberately not checked. */
export function makeZip(entries: readonly ZipEntry[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  const offsets: number[] = [];
  const packed: Buffer[] = [];
  let offset = 0;
  for (const [index, entry] of entries.entries()) {
    const source = entry.sameDataAs ?? index;
    const data = entry.sameDataAs === undefined ? deflateRawSync(entry.data, { level: 9 }) : packed[source];
    if (!data) throw new Error('sameDataAs names an entry before this one');
    packed.push(data);
    const original = entries[source]?.data ?? entry.data;
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(8, 4);
    fields.writeUInt32LE(crc32(original), 10);
    fields.writeUInt32LE(data.length, 14);
    fields.writeUInt32LE(entry.claimedSize ?? original.length, 18);
    fields.writeUInt16LE(Buffer.byteLength(entry.name), 22);
    if (entry.sameDataAs === undefined) {
      const local = Buffer.concat([Buffer.from('PK\u0003\u0004'), fields, Buffer.from(entry.name), data]);
      offsets.push(offset);
      parts.push(local);
      offset += local.length;
    } else offsets.push(offsets[source] ?? 0);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offsets[index] ?? 0, 10);
    directory.push(Buffer.from('PK\u0001\u0002'), Buffer.from([20, 0]), fields, tail, Buffer.from(entry.name));
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(central.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, central, Buffer.from('PK\u0005\u0006'), end]);
}

const part = (name: string, text: string): ZipEntry => ({ name, data: Buffer.from(text) });
const xml = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
const relationsNamespace = 'http://schemas.openxmlformats.org/package/2006/relationships';
const officeNamespace = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const wordNamespace = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
const sheetNamespace = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';

const relations = (...targets: [id: string, type: string, target: string][]): string =>
  `${xml}<Relationships xmlns="${relationsNamespace}">${targets
    .map(([id, type, target]) => `<Relationship Id="${id}" Type="${officeNamespace}/${type}" Target="${target}"/>`)
    .join('')}</Relationships>`;
const contentTypes = (name: string, type: string): ZipEntry =>
  part(
    '[Content_Types].xml',
    `${xml}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/${name}" ContentType="application/vnd.openxmlformats-officedocument.${type}.main+xml"/></Types>`,
  );

export const wordDocument = (body: string): string =>
  `${xml}<w:document xmlns:w="${wordNamespace}"><w:body>${body}</w:body></w:document>`;
export const paragraph = (text: string): string => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;

/** A DOCX with `document` as its main part and further entries. */
export const makeDocx = (document: string, more: readonly ZipEntry[] = []): Buffer =>
  makeZip([
    contentTypes('word/document.xml', 'wordprocessingml.document'),
    part('_rels/.rels', relations(['rId1', 'officeDocument', 'word/document.xml'])),
    part('word/document.xml', document),
    ...more,
  ]);
/** A part such as `word/styles.xml` or `word/footnotes.xml`. The library mammoth finds these parts by their names. */
export const wordPart = (name: string, content: string): ZipEntry =>
  part(`word/${name}.xml`, `${xml}<w:${name} xmlns:w="${wordNamespace}">${content}</w:${name}>`);

/** A DOCX as Word writes it: each word is a run with its own properties, in 200 bytes of XML. */
export function wordyDocx(words: number): Buffer {
  const properties =
    '<w:rPr><w:rFonts w:ascii="Calibri" w:hAnsi="Calibri" w:cs="Calibri"/><w:sz w:val="22"/><w:szCs w:val="22"/><w:lang w:val="en-GB"/></w:rPr>';
  const run = (at: number): string =>
    `<w:r w:rsidRPr="${(at * 7919).toString(16)}">${properties}<w:t xml:space="preserve">${((at * 7919) % 100_003).toString(36)} </w:t></w:r>`;
  const paragraphs: string[] = [];
  for (let from = 0; from < words; from += 60) {
    const runs = Array.from({ length: Math.min(60, words - from) }, (_, at) => run(from + at));
    paragraphs.push(
      `<w:p w:rsidR="${(from * 31).toString(16)}"><w:pPr><w:jc w:val="both"/></w:pPr>${runs.join('')}</w:p>`,
    );
  }
  return makeDocx(wordDocument(paragraphs.join('')));
}

/**
 * An XLSX with one sheet. Its `sheetData` holds `rows`, between `before` and `after`. `sheet` replaces the whole part,
 * and `styles` are cell formats.
 */
export const makeXlsx = ({
  rows = '',
  before = '',
  after = '',
  sheet,
  styles = '',
}: {
  rows?: string;
  before?: string;
  after?: string;
  sheet?: string;
  styles?: string;
}): Buffer =>
  makeZip([
    contentTypes('xl/workbook.xml', 'spreadsheetml.sheet'),
    part('_rels/.rels', relations(['rId1', 'officeDocument', 'xl/workbook.xml'])),
    part(
      'xl/workbook.xml',
      `${xml}<workbook xmlns="${sheetNamespace}" xmlns:r="${officeNamespace}"><sheets><sheet name="Fees" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    ),
    part(
      'xl/_rels/workbook.xml.rels',
      relations(['rId1', 'worksheet', 'worksheets/sheet1.xml'], ['rId2', 'styles', 'styles.xml']),
    ),
    part(
      'xl/styles.xml',
      `${xml}<styleSheet xmlns="${sheetNamespace}">${styles || '<cellXfs count="1"><xf numFmtId="0"/></cellXfs>'}</styleSheet>`,
    ),
    part(
      'xl/worksheets/sheet1.xml',
      sheet ?? `${xml}<worksheet xmlns="${sheetNamespace}">${before}<sheetData>${rows}</sheetData>${after}</worksheet>`,
    ),
  ]);

/** An XLSX whose workbook and sheet have unusual names, which only its relationships state. */
export const renamedXlsx = (rows: string): Buffer =>
  makeZip([
    contentTypes('data/book.xml', 'spreadsheetml.sheet'),
    part('_rels/.rels', relations(['rId1', 'officeDocument', '/data/book.xml'])),
    part(
      'data/book.xml',
      `${xml}<workbook xmlns="${sheetNamespace}" xmlns:r="${officeNamespace}"><sheets><sheet name="Fees" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    ),
    part('data/_rels/book.xml.rels', relations(['rId1', 'worksheet', 'pages/one.xml'])),
    part('data/pages/one.xml', `${xml}<worksheet xmlns="${sheetNamespace}"><sheetData>${rows}</sheetData></worksheet>`),
  ]);

export const textCell = (reference: string, text: string): string =>
  `<c r="${reference}" t="inlineStr"><is><t>${text}</t></is></c>`;

let zipBomb: Buffer | undefined;
/** A DOCX of about 1.5 MB with 1.5 GiB of blanks. It is made once, because making it takes seconds. */
export const zipBombDocx = (): Buffer => (zipBomb ??= makeZipBombDocx());

function makeZipBombDocx(): Buffer {
  const filler = Buffer.alloc(128 * 1024 * 1024, ' ');
  const media = Array.from({ length: 12 }, (_, at): ZipEntry =>
    at === 0
      ? { name: 'word/media/image0.xml', data: filler }
      : { name: `word/media/image${at}.xml`, data: Buffer.alloc(0), sameDataAs: 3 },
  );
  return makeDocx(wordDocument(paragraph('bomb')), media);
}

/** A DOCX with archives inside archives. Each level is small, but unpacking all of them is not. */
export function nestedZipBombDocx(): Buffer {
  let inner = makeZip([{ name: 'zero', data: Buffer.alloc(10 * 1024 * 1024) }]);
  for (let level = 0; level < 5; level += 1) {
    const data = inner;
    inner = makeZip(Array.from({ length: 10 }, (_, at) => ({ name: `${level}-${at}.zip`, data })));
  }
  return makeDocx(wordDocument(paragraph('The outer text is harmless.')), [
    { name: 'word/embeddings/a.zip', data: inner },
  ]);
}

/** An entry that unpacks to more than its header claims. */
export const lyingDocx = (): Buffer =>
  makeDocx(wordDocument(paragraph('lie')), [
    { name: 'word/big.xml', data: Buffer.alloc(1_000_000, ' '), claimedSize: 10 },
  ]);

export const tooManyEntriesDocx = (): Buffer =>
  makeDocx(
    wordDocument(paragraph('many')),
    Array.from({ length: 6_000 }, (_, at) => ({ name: `word/media/${at}`, data: Buffer.from('x') })),
  );

const laughs = (root: string): string =>
  `<!DOCTYPE ${root} [<!ENTITY a "haha">${'bcdefghij'
    .split('')
    .map((name, at) => `<!ENTITY ${name} "${`&${'abcdefghi'[at] ?? 'a'};`.repeat(10)}">`)
    .join('')}]>`;
export const billionLaughsDocx = (): Buffer =>
  makeDocx(wordDocument(paragraph('&j;')).replace(xml, `${xml}${laughs('w:document')}`));
export const billionLaughsXlsx = (): Buffer =>
  makeXlsx({
    sheet: `${xml}${laughs('worksheet')}<worksheet xmlns="${sheetNamespace}"><sheetData><row r="1">${textCell('A1', '&j;')}</row></sheetData></worksheet>`,
  });

/** Tables nested deeper than the stack of any parser. */
export const deepDocx = (): Buffer => {
  const depth = 20_000;
  return makeDocx(
    wordDocument(`${'<w:tbl><w:tr><w:tc>'.repeat(depth)}${paragraph('deep')}${'</w:tc></w:tr></w:tbl>'.repeat(depth)}`),
  );
};

/** Nested fields. The reader removes fields and keeps their text. */
export const deepFieldsDocx = (): Buffer =>
  makeDocx(wordDocument(`<w:p>${'<w:fldSimple>'.repeat(20_000)}deep${'</w:fldSimple>'.repeat(20_000)}</w:p>`));

/** More hidden text than two documents may hold. */
export const endlessHiddenDocx = (): Buffer => {
  const text = 'Nobody reads this. '.repeat(1_000);
  const run = (at: number): string => `<w:r><w:rPr><w:vanish/></w:rPr><w:t>${at.toString(36)} ${text}</w:t></w:r>`;
  const noise = Array.from({ length: 200_000 }, (_, at) => ((at * 7919) % 1_000_003).toString(36)).join(' ');
  return makeDocx(
    wordDocument(
      `<w:p><w:r><w:t>${noise}</w:t></w:r>${Array.from({ length: 600 }, (_, at) => run(at)).join('')}</w:p>`,
    ),
  );
};

/** More cells without a reference than a table may have columns. */
export const placelessXlsx = (): Buffer => makeXlsx({ rows: `<row>${'<c><v>1</v></c>'.repeat(1_000_000)}</row>` });

export const truncatedXlsx = (): Buffer => {
  const whole = makeXlsx({ rows: `<row r="1">${textCell('A1', 'whole')}</row>` });
  return whole.subarray(0, Math.floor(whole.length * 0.6));
};
export const invalidXmlXlsx = (): Buffer =>
  makeXlsx({ sheet: `${xml}<worksheet><sheetData><row r="1"><c r="A1"><v>1</row></sheetData></worksheet>` });
export const invalidXmlDocx = (): Buffer => makeDocx('<w:document><w:body><w:p>');
/** An archive with the right entry names but no workbook. */
export const hollowXlsx = (): Buffer => makeZip([part('xl/workbook.xml', '')]);

/** As many styled empty rows as Excel allows, after a row of column names and a row with one fee. */
export function millionRowsXlsx(): Buffer {
  const rows = [`<row r="1">${textCell('A1', 'Service')}${textCell('B1', 'Price')}</row>`];
  rows.push(`<row r="2">${textCell('A2', 'Gold card')}${textCell('B2', '59 EUR')}</row>`);
  for (let row = 3; row <= 2 ** 20; row += 1) rows.push(`<row r="${row}" s="0" customFormat="1"/>`);
  return makeXlsx({ rows: rows.join('') });
}
/** One cell in the last column. A filled grid would have 16,384 columns. */
export const farCellXlsx = (): Buffer => makeXlsx({ rows: `<row r="1048576">${textCell('XFD1048576', 'far')}</row>` });

/** Many merged ranges, each over all rows and columns. */
export const mergedXlsx = (): Buffer => {
  const rows = Array.from({ length: 2_000 }, (_, at) => {
    const cells = Array.from({ length: 20 }, (_cell, column) =>
      textCell(`${String.fromCharCode(65 + column)}${at + 1}`, 'x'),
    );
    return `<row r="${at + 1}">${cells.join('')}</row>`;
  });
  const merges = '<mergeCell ref="A1:S1048576"/>'.repeat(100_000);
  return makeXlsx({ rows: rows.join(''), after: `<mergeCells>${merges}</mergeCells>` });
};

/** A text one byte above the upload limit. */
export const tooLargeText = (): Buffer => Buffer.alloc(25 * 1024 * 1024 + 1, 'lorem ipsum dolor sit amet\n');
/** A text below the upload limit and above the limit of extracted text. */
export const tooMuchText = (): Buffer => Buffer.alloc(12 * 1024 * 1024, 'Lorem ipsum dolor sit amet.\n');
/** Text at the start, which passes the upload check, followed by binary data. */
export const binaryTail = (): Buffer =>
  Buffer.concat([Buffer.alloc(100_000, 'An ordinary line of text.\n'), Buffer.alloc(100_000)]);
export const binaryText = (): Buffer => Buffer.from(Array.from({ length: 4_096 }, (_, at) => (at * 7919) % 256));
export const pdf = (): Buffer =>
  Buffer.from('%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer << /Root 1 0 R >>\n%%EOF\n');
export const png = (): Buffer => Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
export const windowsProgram = (): Buffer =>
  Buffer.concat([Buffer.from('MZ'), Buffer.alloc(200), Buffer.from('PE\0\0')]);

const german =
  'Die Jahresgebühr für die Karte beträgt 59 € – auch für Schüler. Öffnungszeiten: täglich, außer sonntags.';
export const germanText = german;
/** The same sentence in windows-1252, where € is 0x80 and – is 0x96. */
export const windows1252Text = (): Buffer =>
  Buffer.from(german.replaceAll('€', '\u0080').replaceAll('–', '\u0096'), 'latin1');
export const utf16leWithoutMark = (): Buffer => Buffer.from(german, 'utf16le');
export const utf16beWithMark = (): Buffer => Buffer.from(`\ufeff${german}`, 'utf16le').swap16();
export const utf8WithMark = (): Buffer => Buffer.from(`\ufeff${german}`);

export const wideCsv = (columns = 100_000): Buffer => {
  const row = (text: string): string => Array.from({ length: columns }, (_, at) => `${text}${at}`).join(',');
  return Buffer.from(`${row('column ')}\n${row('')}\n`);
};
/** A well-formed CSV with a quoted field of 20 MB. */
export const hugeFieldCsv = (): Buffer =>
  Buffer.concat([Buffer.from('name,text\na,"'), Buffer.alloc(20_000_000, 'blah '), Buffer.from('"\n')]);
/** A CSV whose unclosed quotation mark swallows the rest of the file. */
export const unclosedQuoteCsv = (): Buffer => Buffer.from(`name,text\na,"never closed\n${'b,c\n'.repeat(1_000)}`);

export const nestedBrackets = (): Buffer => Buffer.from(`${'['.repeat(100_000)}text${']('.repeat(100_000)}`);
export const nestedQuotes = (): Buffer => Buffer.from(`${'> '.repeat(100_000)}text`);
export const nestedLists = (): Buffer =>
  Buffer.from(Array.from({ length: 3_000 }, (_, at) => `${'  '.repeat(at)}- item`).join('\n'));
export const nestedHtml = (): Buffer => Buffer.from(`${'<div>'.repeat(100_000)}text`);

/** File names that try to leave a folder, hide an extension, break a terminal or a header, or name a device. */
export const hostileNames: readonly string[] = [
  '../../etc/passwd.md',
  '..\\..\\windows\\system32\\drivers\\etc\\hosts.txt',
  '/absolute/path.csv',
  'C:\\Users\\me\\fees.xlsx',
  'nul\0byte.md',
  'line\r\nSet-Cookie: a=b.md',
  'bell\u0007escape\u001b[31m.txt',
  'right\u202edm.exe.md',
  'zero\u200bwidth\ufeff.md',
  `${'a'.repeat(10_000)}.md`,
  `${'ä'.repeat(300)}.docx`,
  `${'👩‍👩‍👧'.repeat(100)}.txt`,
  '',
  '.',
  '..',
  '...',
  '.md',
  '   .md',
  'CON.md',
  'com1.txt',
  'lpt9',
  'name. . .',
  'a<b>c:d"e|f?g*h.csv',
  '\ud800lone.md',
  'e\u0301.md',
  '${jndi:ldap://x}.md',
  "'; DROP TABLE documents; --.md",
  '<img src=x onerror=alert(1)>.md',
  'report.pdf.md',
];
