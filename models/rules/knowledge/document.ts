/**
 * Rules for uploaded documents: types, states, limits, displayed names, and why a file is refused. Pure: the caller
 * passes bytes and names.
 */
import { invalid, Problem } from '../base/errors.ts';
import { detectUtf16, startsWith } from '../base/unreadable.ts';

export const documentStatuses = ['uploaded', 'processing', 'indexed', 'failed'] as const;
export type DocumentStatus = (typeof documentStatuses)[number];
/** The states of a document whose processing has not finished. */
export const unprocessed = ['uploaded', 'processing'] as const satisfies readonly DocumentStatus[];
export const isUnprocessed = (status: DocumentStatus): boolean => (unprocessed as readonly string[]).includes(status);

export const fileTypes = ['docx', 'txt', 'md', 'csv', 'xlsx'] as const;
export type FileType = (typeof fileTypes)[number];

/** The media type that is stored and served for each file type; the type declared by the uploader is not trusted. */
export const mimeTypes: Record<FileType, string> = {
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};

/** File name extensions, in lower case and without the dot. */
export const extensions: Record<FileType, readonly string[]> = {
  docx: ['docx'],
  txt: ['txt', 'text'],
  md: ['md', 'markdown'],
  csv: ['csv'],
  xlsx: ['xlsx'],
};

/** The maximum size of an upload, in bytes: 25 MiB, as the contract of the document routes says. */
export const maxFileBytes = 25 * 1024 * 1024;

/** The maximum length of an article's text, in characters. Members write and change articles on the platform. */
export const maxTextLength = 200_000;

/**
 * The file name of an article: its title without characters that file names cannot have. The extension `.md` is added
 * unless the title ends with the extension of a Markdown or text file.
 */
export function articleName(title: string): string {
  const name = title.replace(/[/\\]/g, '-').replace(/[<>:"|?*]/g, '');
  const type = fileTypeOfName(name);
  return cleanFilename(type === 'md' || type === 'txt' ? name : `${name}.md`);
}

/** The extension of a file name in lower case and without the dot; empty when the name has none. */
function extensionOf(name: string): string {
  return /\.([\p{L}\p{N}]{1,16})$/u.exec(name)?.[1]?.toLowerCase() ?? '';
}

export function fileTypeOfName(filename: string): FileType | undefined {
  const extension = extensionOf(filename.trim());
  return fileTypes.find((type) => extensions[type].includes(extension));
}

const utf8Length = (text: string): number => new TextEncoder().encode(text).length;

/**
 * Truncates a text to at most `bytes` of UTF-8, without splitting a grapheme (an emoji, or a letter with its accent).
 */
function clip(text: string, bytes: number): string {
  if (utf8Length(text) <= bytes) return text;
  let kept = '';
  let length = 0;
  for (const { segment } of new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text.slice(0, bytes))) {
    length += utf8Length(segment);
    if (length > bytes) break;
    kept += segment;
  }
  return kept;
}

/** Names that Windows treats as devices, whatever their extension. */
const deviceName = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])$/i;

/**
 * Removes dots and blanks at the beginning (`edge` 0) or at the end (`edge` -1) of a name. The function uses a loop,
 * because a regular expression for the end would take quadratic time.
 */
function withoutEdge(name: string, edge: 0 | -1): string {
  const isEdge = (character: string | undefined): boolean => character === '.' || character === ' ';
  let [from, to] = [0, name.length];
  if (edge === 0) while (isEdge(name[from])) from += 1;
  else while (to > 0 && isEdge(name[to - 1])) to -= 1;
  return name.slice(from, to);
}

/**
 * A file name that is safe to show, store and download on any system: 1 to 255 bytes of UTF-8, without path, control
 * characters, text-direction characters or reserved Windows names. The extension is kept. Never throws.
 */
export function cleanFilename(name: string): string {
  const base = name.toWellFormed().normalize('NFC').split(/[/\\]/).at(-1) ?? '';
  const visible = base
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ')
    // Removes format characters: U+202E would show "exe.jpg" as "gpj.exe". The joiners U+200C and U+200D stay, because
    // some scripts need them.
    .replace(/(?![\u200c\u200d])\p{Cf}|[\p{Co}\ufffd]/gu, '')
    .replace(/[<>:"|?*]/g, '_')
    .replace(/\s+/g, ' ');
  const named = withoutEdge(visible, -1).trim();
  const extension = /\.[\p{L}\p{N}]{1,16}$/u.exec(named)?.[0] ?? '';
  let stem = withoutEdge(withoutEdge(named.slice(0, named.length - extension.length), -1), 0);
  if (stem === '') stem = 'document';
  if (deviceName.test(stem.split('.')[0] ?? '')) stem = `_${stem}`;
  return clip(stem, 255 - utf8Length(extension)).trimEnd() + extension;
}

/** The document's name for people: the file name without extension, with blanks instead of `-` and `_`. */
export function documentTitle(filename: string): string {
  return filename
    .replace(/\.[\p{L}\p{N}]{1,16}$/u, '')
    .replace(/[-_\s]+/g, ' ')
    .trim();
}

type Signature = { what: string; bytes: readonly number[]; offset?: number };
const ascii = (text: string): number[] => Array.from(text, (character) => character.charCodeAt(0));

/** Magic numbers of formats that are often uploaded under a wrong extension, from the formats' specifications. */
const signatures: readonly Signature[] = [
  { what: 'a PDF document', bytes: ascii('%PDF-') },
  { what: 'a PNG picture', bytes: [0x89, 0x50, 0x4e, 0x47] },
  { what: 'a JPEG picture', bytes: [0xff, 0xd8, 0xff] },
  { what: 'a GIF picture', bytes: ascii('GIF8') },
  { what: 'a RIFF file (a WebP picture, sound or video)', bytes: ascii('RIFF') },
  { what: 'a video or HEIC picture', bytes: ascii('ftyp'), offset: 4 },
  { what: 'an RTF document', bytes: ascii('{\\rtf') },
  { what: 'a PostScript document', bytes: ascii('%!PS') },
  { what: 'a program', bytes: [0x7f, 0x45, 0x4c, 0x46] },
  { what: 'a gzip archive', bytes: [0x1f, 0x8b, 0x08] },
  { what: 'a RAR archive', bytes: ascii('Rar!\u001a') },
  { what: 'a 7z archive', bytes: [0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c] },
  { what: 'a database', bytes: ascii('SQLite format 3') },
];

export const isZip = (head: Uint8Array): boolean =>
  startsWith(head, [0x50, 0x4b, 3, 4]) || startsWith(head, [0x50, 0x4b, 5, 6]);

/** Detects an OLE2 compound file: Word and Excel before 2007, and every password-protected DOCX or XLSX. */
export const isCompoundFile = (head: Uint8Array): boolean => startsWith(head, [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1]);

/**
 * Whether bytes cannot be text in any usual encoding: they have zero bytes outside UTF-16, or over 5 % control
 * characters.
 */
export function looksBinary(bytes: Uint8Array): boolean {
  if (detectUtf16(bytes) !== undefined) return false;
  let control = 0;
  for (const byte of bytes) {
    if (byte === 0) return true;
    if (byte < 9 || (byte > 13 && byte < 32 && byte !== 27) || byte === 127) control += 1;
  }
  return control > bytes.length * 0.05;
}

function refuse(message: string): never {
  throw new Problem('UNSUPPORTED_FILE_TYPE', { details: [{ path: ['body', 'file'], message }] });
}

const supported = 'Upload DOCX, TXT, MD, CSV or XLSX.';
const officePart: Record<'docx' | 'xlsx', RegExp> = {
  docx: /^word\/document\d*\.xml$/i,
  xlsx: /^xl\/workbook\d*\.xml$/i,
};

/**
 * Matches the content type of the main part of an Office file, as `[Content_Types].xml` lists it. The type identifies a
 * file whose main part has an unusual path.
 */
const officeContent: Record<'docx' | 'xlsx', RegExp> = {
  docx: /wordprocessingml\.(?:document|template)\.main\+xml/i,
  xlsx: /spreadsheetml\.(?:sheet|template)\.main\+xml/i,
};

/** The kind of a ZIP archive in words, judged by the names of its entries. */
function archiveKind(entries: readonly string[]): string {
  const has = (pattern: RegExp): boolean => entries.some((entry) => pattern.test(entry));
  if (has(officePart.docx)) return 'a Word document (DOCX)';
  if (has(officePart.xlsx)) return 'an Excel workbook (XLSX)';
  if (has(/^xl\/workbook\.bin$/i)) return 'a binary Excel workbook (XLSB)';
  if (has(/^ppt\//i)) return 'a PowerPoint presentation';
  if (has(/^META-INF\/container\.xml$/i)) return 'an e-book (EPUB)';
  if (has(/^META-INF\/manifest\.xml$/i)) return 'an OpenDocument file';
  return 'a ZIP archive';
}

/**
 * The type of a file, judged by its first bytes (up to `headBytes`) and its name, which must agree. `zipEntries` are
 * the names in the ZIP directory; undefined when the directory is missing or unreadable. `contentTypes` is the text of
 * `[Content_Types].xml`, empty when the archive has none. A protected or damaged office file is accepted here, because
 * its processing fails later with the exact reason. Throws VALIDATION for an empty file. Throws UNSUPPORTED_FILE_TYPE
 * with the detected kind of file and what to upload instead.
 */
export function detectFileType(
  head: Uint8Array,
  filename: string,
  zipEntries?: readonly string[],
  contentTypes = '',
): FileType {
  if (head.length === 0) {
    throw invalid(['body', 'file'], 'is empty; choose a file with content');
  }
  const known = signatures.find(({ bytes, offset }) => startsWith(head, bytes, offset));
  if (known) refuse(`The content of the file is ${known.what}, which is not supported. ${supported}`);
  const type = fileTypeOfName(filename);
  if (type === undefined) {
    const extension = extensionOf(filename);
    refuse(
      `${extension ? `Files ending in .${extension} are` : 'A name without an ending is'} not supported. ${supported}`,
    );
  }
  if (type === 'docx' || type === 'xlsx') return detectOffice(head, type, zipEntries, contentTypes);
  if (isZip(head))
    refuse(`The content of the file is ${archiveKind(zipEntries ?? [])}, not .${type} text. ${supported}`);
  if (isCompoundFile(head)) refuse(`The content of the file is an old or protected Office file. ${supported}`);
  if (looksBinary(head)) refuse(`The content of the file is binary data, not .${type} text. ${supported}`);
  return type;
}

function detectOffice(
  head: Uint8Array,
  type: 'docx' | 'xlsx',
  entries: readonly string[] | undefined,
  contentTypes: string,
): FileType {
  if (isCompoundFile(head)) return type;
  if (!isZip(head)) refuse(`The content of the file is not .${type}; save it as ${type.toUpperCase()} in its program.`);
  if (entries === undefined || entries.some((entry) => officePart[type].test(entry))) return type;
  // The main part may have any path, so its content type decides.
  if (officeContent[type].test(contentTypes)) return type;
  return refuse(`The content of the file is ${archiveKind(entries)}, not .${type}. ${supported}`);
}
