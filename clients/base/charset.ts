/** Decodes bytes of unknown encoding into text. Callers first check whether the bytes are text at all. */
import chardet from 'chardet';
import iconv from 'iconv-lite';
import { detectUtf16 } from '../../models/rules/base/unreadable.ts';

/**
 * The encoding is guessed from a sample of this many bytes, which begins shortly before the first byte that is not
 * ASCII. A larger sample costs time without improving the guess.
 */
const sampleBytes = 64 * 1024;
/** An HTML page may declare its encoding within this many bytes, according to the HTML standard (prescan). */
const prescanBytes = 1024;

/**
 * Decodes UTF-16 and UTF-8, detected by their byte order mark or byte pattern. Other bytes are decoded with the most
 * likely older encoding (windows-1252 for Latin letters). The text may still begin with a byte order mark.
 */
export function guessText(bytes: Uint8Array): string {
  const utf16 = detectUtf16(bytes);
  if (utf16) return new TextDecoder(utf16).decode(bytes);
  return decodeUtf8(bytes) ?? decodeLegacy(bytes);
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function decodeLegacy(bytes: Uint8Array): string {
  const first = bytes.findIndex((byte) => byte > 127);
  const from = Math.max(0, first - 1024);
  const guess = chardet.detect(bytes.subarray(from, from + sampleBytes)) ?? 'windows-1252';
  // Text labelled ISO-8859-1 nearly always is windows-1252, which adds the euro sign. A guess of ASCII is wrong here,
  // because the bytes are not all ASCII.
  const latin = /^(?:ASCII|ISO-8859-1)$/i.test(guess) || !iconv.encodingExists(guess);
  if (/^ISO-8859-2$/i.test(guess)) return decodeCentralEuropean(bytes);
  return iconv.decode(bytes, latin ? 'windows-1252' : guess);
}

/**
 * Polish, Czech and similar text is nearly always windows-1250, which chardet cannot distinguish from ISO-8859-2.
 * ISO-8859-2 text read as windows-1250 is recognized by symbols inside words, or by a Polish letter among Czech ones.
 */
function decodeCentralEuropean(bytes: Uint8Array): string {
  const text = iconv.decode(bytes, 'windows-1250');
  const sample = text.slice(0, sampleBytes);
  const signs = /\p{L}[±¶¦¬]|[±¶¦¬]\p{Ll}|\p{L}[«»©®]\p{Ll}/u.test(sample);
  const mixed = /[ěřů]/i.test(sample) && /ą/i.test(sample);
  return signs || mixed ? iconv.decode(bytes, 'ISO-8859-2') : text;
}

/** The standard name of a declared encoding (`latin1` is `windows-1252`); undefined when the encoding is unknown. */
function encodingOf(label: string | undefined): string | undefined {
  if (label === undefined) return undefined;
  try {
    return new TextDecoder(label.trim()).encoding;
  } catch {
    return undefined;
  }
}

const charsetOf = (text: string): string | undefined => /charset\s*=\s*(?:["']\s*)?([^\s"';>,/]+)/i.exec(text)?.[1];

/**
 * The encoding declared in the head of a page. A declaration of UTF-16 that is readable as ASCII must be wrong; it
 * counts as UTF-8, as in the HTML standard.
 */
function declaredInHead(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, prescanBytes))
    .toString('latin1')
    .replace(/<!--[\s\S]*?-->/g, '');
  const xml = /^\s*<\?xml[^>]*encoding\s*=\s*["']([^"']+)/i.exec(head)?.[1];
  const metas = [...head.matchAll(/<meta\b[^>]*>/gi)].map(([meta]) => charsetOf(meta));
  const encoding = [...metas, xml].map(encodingOf).find((one) => one !== undefined);
  return encoding?.startsWith('utf-16') ? 'utf-8' : encoding;
}

/**
 * Decodes an HTML page. The order is that of the HTML standard: byte order mark, `Content-Type`, `<meta>` in the first
 * 1,024 bytes, then a guess. Two declarations are ignored when they are provably wrong: UTF-8 for bytes that mostly are
 * not UTF-8, and windows-1252 (the default of many servers) for bytes that are entirely UTF-8. Never throws.
 */
export function decodeHtml(bytes: Uint8Array, contentType: string | undefined): string {
  const mark = detectMark(bytes);
  if (mark) return new TextDecoder(mark).decode(bytes);
  const encoding = encodingOf(charsetOf(contentType ?? '')) ?? declaredInHead(bytes);
  if (encoding === undefined) return guessText(bytes);
  if (encoding === 'utf-8' || encoding === 'windows-1252') {
    const text = decodeUtf8(bytes);
    if (text !== undefined) return text;
    if (encoding === 'windows-1252') return iconv.decode(bytes, encoding);
    const lenient = new TextDecoder('utf-8').decode(bytes);
    const lost = lenient.match(/\ufffd/g)?.length ?? 0;
    const kept = lenient.match(/[^\0-\x7f\ufffd]/g)?.length ?? 0;
    return lost > kept ? decodeLegacy(bytes) : lenient;
  }
  // iconv-lite comes first, because it gives the same result on every build of Node. It lacks only ISO-2022-JP, which
  // `TextDecoder` decodes.
  return iconv.encodingExists(encoding) ? iconv.decode(bytes, encoding) : new TextDecoder(encoding).decode(bytes);
}

function detectMark(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : undefined;
}
