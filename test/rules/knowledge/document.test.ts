import { describe, expect, it } from '@jest/globals';
import {
  cleanFilename,
  detectFileType,
  documentTitle,
  extensions,
  fileTypeOfName,
  fileTypes,
  looksBinary,
  mimeTypes,
} from '../../../models/rules/knowledge/document.ts';
import {
  detectUtf16,
  headBytes,
  Unreadable,
  unreadableReasons,
  type UnreadableReason,
} from '../../../models/rules/base/unreadable.ts';
import { Problem } from '../../../models/rules/base/errors.ts';
import * as bad from '../../kit/badfiles.ts';

function problemOf(run: () => unknown): Problem {
  try {
    run();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('cleanFilename', () => {
  it.each(bad.hostileNames.map((name) => [JSON.stringify(name.slice(0, 40)), name]))(
    'cleanFilename makes the hostile filename %s safe',
    (_label, name) => {
      const clean = cleanFilename(name);
      expect(Buffer.byteLength(clean)).toBeLessThanOrEqual(255);
      expect(clean).toMatch(/^[^\p{Cc}\p{Cs}/\\<>:"|?*\u202a-\u202e\u2066-\u2069\u200b\ufeff]+$/u);
      expect(clean).not.toMatch(/^[. ]|[. ]$|\uFFFD/);
      expect(clean).not.toMatch(/^(?:con|nul|com\d|lpt\d)(?:\.|$)/i);
      expect(cleanFilename(clean)).toBe(clean);
    },
  );

  it.each([
    ['fees 2026.xlsx', 'fees 2026.xlsx'],
    ['../../etc/passwd.md', 'passwd.md'],
    ['C:\\Users\\me\\fees.xlsx', 'fees.xlsx'],
    ['.md', 'document.md'],
    ['', 'document'],
    ['CON.md', '_CON.md'],
    ['Gebühren für Schüler.docx', 'Gebühren für Schüler.docx'],
    ['料金表.csv', '料金表.csv'],
    ['e\u0301.md', 'é.md'],
    ['right\u202edm.exe.md', 'rightdm.exe.md'],
    ['line\r\nbreak.md', 'line break.md'],
  ])('the filename %j is shown as %j', (name, shown) => expect(cleanFilename(name)).toBe(shown));

  it('a filename of dots and blanks is cleaned in linear time', () => {
    // A regular expression that searches for the end from each blank takes minutes, so Jest's timeout fails it.
    expect(cleanFilename(`${'. '.repeat(200_000)}help${'. '.repeat(200_000)}.md. .`)).toMatch(/^help[. ]*\.md$/);
  });

  it('a shortened filename keeps its extension and cuts no character in two', () => {
    const family = cleanFilename(`${'👩‍👩‍👧'.repeat(100)}.txt`);
    expect(family).toMatch(/^(?:👩‍👩‍👧)+\.txt$/u);
    expect(cleanFilename(`${'a'.repeat(10_000)}.md`)).toBe(`${'a'.repeat(252)}.md`);
  });
});

describe('fileTypeOfName', () => {
  const named = fileTypes.flatMap((type) => extensions[type].map((extension) => [`a.${extension}`, type] as const));
  it.each([...named, ['A.MD', 'md'] as const, ['a.b.CSV ', 'csv'] as const])(
    'the file %s has the type %s',
    (name, type) => {
      expect(fileTypeOfName(name)).toBe(type);
    },
  );
  it.each(['a.pdf', 'a.doc', 'a.xls', 'a.docm', 'a.md.exe', 'md', '', 'a.'])(
    'the filename %j has no supported type',
    (name) => {
      expect(fileTypeOfName(name)).toBeUndefined();
    },
  );
  it('every file type has a media type', () =>
    expect(Object.keys(mimeTypes).toSorted()).toEqual([...fileTypes].toSorted()));
});

describe('detectFileType', () => {
  const docx = bad.makeDocx(bad.wordDocument(bad.paragraph('x')));
  const xlsx = bad.makeXlsx({});
  const docxEntries = ['[Content_Types].xml', '_rels/.rels', 'word/document.xml'];
  const xlsxEntries = ['[Content_Types].xml', 'xl/workbook.xml'];
  const compound = Buffer.from('d0cf11e0a1b11ae1', 'hex');
  const text = Buffer.from('# Hello\n');

  it.each<[string, Buffer, string, string[] | undefined, string]>([
    ['Markdown', text, 'a.md', undefined, 'md'],
    ['text', text, 'a.TXT', undefined, 'txt'],
    ['CSV', Buffer.from('a,b\n1,2\n'), 'a.csv', undefined, 'csv'],
    ['windows-1252 text', bad.windows1252Text(), 'a.txt', undefined, 'txt'],
    ['UTF-16 text without a mark', bad.utf16leWithoutMark(), 'a.txt', undefined, 'txt'],
    ['UTF-16 text with a mark', bad.utf16beWithMark(), 'a.md', undefined, 'md'],
    ['DOCX', docx, 'a.docx', docxEntries, 'docx'],
    ['DOCX with a numbered main part', docx, 'a.docx', ['word/document2.xml'], 'docx'],
    ['XLSX', xlsx, 'a.xlsx', xlsxEntries, 'xlsx'],
    ['an archive without a directory named XLSX', xlsx, 'a.xlsx', undefined, 'xlsx'],
    ['a compound file (perhaps protected) named DOCX', compound, 'a.docx', undefined, 'docx'],
    ['a compound file named XLSX', compound, 'a.xlsx', undefined, 'xlsx'],
  ])('an uploaded file is accepted by its content and name: %s', (_label, head, name, entries, type) => {
    expect(detectFileType(head.subarray(0, headBytes), name, entries)).toBe(type);
  });

  it.each<[string, Buffer, string, string[] | undefined, RegExp]>([
    ['a PDF named MD', bad.pdf(), 'a.md', undefined, /PDF/],
    ['a PDF named DOCX', bad.pdf(), 'a.docx', undefined, /PDF/],
    ['a PDF', bad.pdf(), 'a.pdf', undefined, /PDF/],
    ['a PNG named TXT', bad.png(), 'a.txt', undefined, /PNG/],
    ['a Windows program named CSV', bad.windowsProgram(), 'a.csv', undefined, /binary/],
    ['a Windows program named XLSX', bad.windowsProgram(), 'a.xlsx', undefined, /not \.xlsx/],
    ['an RTF named TXT', Buffer.from('{\\rtf1 hello}'), 'a.txt', undefined, /RTF/],
    ['text named DOCX', text, 'a.docx', undefined, /not \.docx/],
    ['an XLSX named DOCX', xlsx, 'a.docx', xlsxEntries, /Excel/],
    ['a DOCX named XLSX', docx, 'a.xlsx', docxEntries, /Word/],
    ['a DOCX named MD', docx, 'a.md', docxEntries, /Word/],
    ['a presentation named DOCX', docx, 'a.docx', ['ppt/presentation.xml'], /PowerPoint/],
    ['an OpenDocument named DOCX', docx, 'a.docx', ['META-INF/manifest.xml'], /OpenDocument/],
    ['a plain archive named XLSX', docx, 'a.xlsx', ['a.txt'], /ZIP/],
    ['a compound file named TXT', compound, 'a.txt', undefined, /Office/],
    ['binary data named TXT', bad.binaryText(), 'a.txt', undefined, /binary/],
    ['an unknown ending', text, 'a.pages', undefined, /\.pages/],
    ['no ending', text, 'README', undefined, /without an ending/],
  ])(
    'an uploaded file that is %s is refused with 415 and the type that was found',
    (_label, head, name, entries, message) => {
      const problem = problemOf(() => detectFileType(head.subarray(0, headBytes), name, entries));
      expect(problem.code).toBe('UNSUPPORTED_FILE_TYPE');
      expect(problem.details).toEqual([{ path: ['body', 'file'], message: expect.stringMatching(message) }]);
    },
  );

  it('an empty file is refused with 400 on the field `file`', () => {
    const problem = problemOf(() => detectFileType(new Uint8Array(), 'a.md'));
    expect([problem.status, problem.details?.[0]?.path]).toEqual([400, ['body', 'file']]);
  });
});

describe('detectUtf16 and looksBinary', () => {
  it.each<[string, Buffer, string | undefined, boolean]>([
    ['ASCII', Buffer.from('hello\tworld\r\n'), undefined, false],
    ['an empty file', Buffer.alloc(0), undefined, false],
    ['UTF-8', Buffer.from(bad.germanText), undefined, false],
    ['windows-1252', bad.windows1252Text(), undefined, false],
    ['UTF-16LE without a mark', bad.utf16leWithoutMark(), 'utf-16le', false],
    ['UTF-16BE with a mark', bad.utf16beWithMark(), 'utf-16be', false],
    ['one zero byte in text', Buffer.from('abc\0def'.repeat(20)), undefined, true],
    ['all bytes', bad.binaryText(), undefined, true],
    ['terminal colours', Buffer.from('\u001b[31mred\u001b[0m'), undefined, false],
  ])('detectUtf16 and looksBinary tell text from binary content: %s', (_label, bytes, utf16, binary) => {
    expect([detectUtf16(bytes), looksBinary(bytes)]).toEqual([utf16, binary]);
  });
});

it('the title of a document is its filename without extension and separators', () => {
  expect(documentTitle('price-list_2026.xlsx')).toBe('price list 2026');
  expect(documentTitle('')).toBe('');
});

it.each(Object.keys(unreadableReasons) as UnreadableReason[])(
  'the failure reason %s has a message that is written as a whole sentence',
  (reason) => {
    const { message } = new Unreadable(reason);
    expect(message).toMatch(/^(?:The|A|Reading) .{30,}\.$/);
  },
);
