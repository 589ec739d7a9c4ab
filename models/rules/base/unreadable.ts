/** Why the bytes of an uploaded file cannot be read, and checks on them before they are parsed. Pure. */

/** How many bytes of a file are examined at upload; the remaining bytes are checked when the document is processed. */
export const headBytes = 64 * 1024;

/** Why a file could not be read: the stored code, and the sentence for the file's owner. */
export const unreadableReasons = {
  encrypted: 'The file is protected with a password; remove the password and upload it again.',
  legacy: 'The file is in the old Word or Excel 97-2003 format; save it as DOCX or XLSX and upload it again.',
  broken: 'The file is damaged or incomplete; open it in its program, save it again and upload that copy.',
  bomb: 'The file unpacks to far more data than a document of its size holds, so it was not opened.',
  too_large: 'The file is larger than 25 MiB; split it into smaller files.',
  too_much_text: 'The file holds more text than one document may; split it into smaller files.',
  too_wide: 'A table in the file has more than 1,000 columns; keep the columns people ask about.',
  too_deep: 'The file is nested too deeply (lists, quotes or tables inside each other); flatten it.',
  bad_quotes: 'A quotation mark in the table is opened and never closed; correct it and upload the file again.',
  uncalculated: 'The file has formulas without results; open it in Excel, save it there and upload that copy.',
  binary: 'The file holds binary data instead of text; export it as text and upload that.',
  empty: 'The file holds no text that can be read; if it shows pictures of text, type the text in.',
  scanned:
    'The pages of the file are pictures without text; upload a file with text, such as one saved by a word processor.',
  timed_out: 'Reading the file took too long; split it into smaller files or simplify it.',
  out_of_memory: 'Reading the file needs more memory than allowed; split it into smaller files or simplify it.',
  crashed: 'The file made its reader stop; open it in its program, save it again and upload that copy.',
} as const;
export type UnreadableReason = keyof typeof unreadableReasons;

/** A file that no retry will make readable. The message is for the file's owner; `cause` is for the log. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';
  readonly reason: UnreadableReason;

  constructor(reason: UnreadableReason, options: { cause?: unknown } = {}) {
    super(unreadableReasons[reason], options);
    this.reason = reason;
  }
}

export const startsWith = (head: Uint8Array, bytes: readonly number[], offset = 0): boolean =>
  bytes.every((byte, index) => head[offset + index] === byte);

export type Utf16 = 'utf-16le' | 'utf-16be';

/**
 * Detects UTF-16 by its byte order mark, or by zero bytes that occur at only even or only odd offsets. The high byte is
 * zero for Latin letters, and in other alphabets for blanks and punctuation. Undefined when the bytes are not UTF-16.
 */
export function detectUtf16(bytes: Uint8Array): Utf16 | undefined {
  if (startsWith(bytes, [0xff, 0xfe])) return 'utf-16le';
  if (startsWith(bytes, [0xfe, 0xff])) return 'utf-16be';
  const length = Math.min(bytes.length, headBytes) & ~1;
  const zeros: [even: number, odd: number] = [0, 0];
  for (let index = 0; index < length; index += 1) if (bytes[index] === 0) zeros[index % 2 === 0 ? 0 : 1] += 1;
  const places = length / 2;
  if (zeros[1] > places * 0.3 && zeros[0] <= places * 0.01) return 'utf-16le';
  if (zeros[0] > places * 0.3 && zeros[1] <= places * 0.01) return 'utf-16be';
  return undefined;
}
