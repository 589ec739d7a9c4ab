/** Makes PDF files in memory: ordinary ones, and ones that attack a reader. */
import { createCipheriv, createHash, randomBytes } from 'node:crypto';
import { constants, deflateRawSync, deflateSync } from 'node:zlib';

type Part = string | Buffer;
type Stream = { entries?: string; data: Part };

/** A PDF of these objects, numbered from 1. The first one is the catalog. */
function pdfOf(objects: readonly (string | Stream)[], trailer = ''): Buffer {
  const parts: Buffer[] = [Buffer.from('%PDF-1.7\n%\u00e2\u00e3\n', 'latin1')];
  let length = parts[0]!.length;
  const offsets: number[] = [];
  const add = (part: Part): void => {
    const bytes = Buffer.isBuffer(part) ? part : Buffer.from(part, 'latin1');
    parts.push(bytes);
    length += bytes.length;
  };
  for (const [index, object] of objects.entries()) {
    offsets.push(length);
    add(`${index + 1} 0 obj\n`);
    if (typeof object === 'string') add(object);
    else {
      const data = Buffer.isBuffer(object.data) ? object.data : Buffer.from(object.data, 'latin1');
      add(`<< /Length ${data.length} ${object.entries ?? ''} >>\nstream\n`);
      add(data);
      add('\nendstream');
    }
    add('\nendobj\n');
  }
  const start = length;
  add(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`);
  for (const offset of offsets) add(`${String(offset).padStart(10, '0')} 00000 n \n`);
  add(`trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${trailer} >>\nstartxref\n${start}\n%%EOF\n`);
  return Buffer.concat(parts);
}

const font = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>';
/**
 * A PDF of one page with this content. `more` are further objects, numbered from 6. `resources` are entries of the
 * page's resources that refer to them.
 */
export function pdfPage(
  content: Stream,
  more: readonly (string | Stream)[] = [],
  resources = '',
  catalog = '',
  trailer = '',
): Buffer {
  return pdfOf(
    [
      `<< /Type /Catalog /Pages 2 0 R ${catalog} >>`,
      '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> ${resources} >> >>`,
      content,
      font,
      ...more,
    ],
    trailer,
  );
}

type Written = { text: string; x: number; y: number; size?: number };
const escaped = (text: string): string => text.replaceAll(/[\\()]/g, String.raw`\$&`);
/** The PDF operators that draw these words in this order. */
export const drawing = (words: readonly Written[]): string =>
  words.map(({ text, x, y, size = 11 }) => `BT /F1 ${size} Tf ${x} ${y} Td (${escaped(text)}) Tj ET`).join('\n');

/** A PDF page with the lines from top to bottom. */
export const pdfText = (lines: readonly string[]): Buffer =>
  pdfPage({ data: drawing(lines.map((text, index) => ({ text, x: 72, y: 720 - index * 16 }))) });

const hello = 'BT /F1 12 Tf 72 700 Td (Hello) Tj ET\n';

const pieceBytes = 16 * 1024 ** 2;
/**
 * Deflates `bytes` bytes of a repeated text followed by `end`. The text is deflated once and the result is repeated, so
 * a gigabyte is as cheap as one piece.
 */
function deflated(bytes: number, text: string, end: string): Buffer {
  const piece = deflateRawSync(Buffer.alloc(pieceBytes, text), { finishFlush: constants.Z_FULL_FLUSH });
  const pieces = Array.from({ length: Math.ceil(bytes / pieceBytes) }, () => piece);
  // PDF readers do not verify the checksum at the end.
  return Buffer.concat([Buffer.from([0x78, 0xda]), ...pieces, deflateRawSync(Buffer.from(end)), Buffer.alloc(4)]);
}

/** A stream with a gigabyte of blanks before a word. */
export const streamBomb = (bytes = 1024 ** 3): Buffer =>
  pdfPage({ entries: '/Filter /FlateDecode', data: deflated(bytes, ' ', hello) });
/** The same stream, deflated twice to a few kilobytes. */
export const twiceDeflated = (bytes = 1024 ** 3): Buffer =>
  pdfPage({
    entries: '/Filter [/FlateDecode /FlateDecode]',
    data: deflateSync(deflated(bytes, ' ', hello), { level: 9 }),
  });
/** A page with this many bytes of text operators. */
export const operators = (bytes = 180 * 1024 ** 2): Buffer =>
  pdfPage({ entries: '/Filter /FlateDecode', data: deflated(bytes, hello, hello) });
/** Nested forms, each of which draws the next one twice. */
export function nestedForms(depth = 25): Buffer {
  const forms = Array.from({ length: depth }, (_, index): Stream => {
    const next =
      index + 1 < depth
        ? `/Resources << /Font << /F1 5 0 R >> /XObject << /X ${index + 7} 0 R >> >>`
        : '/Resources << /Font << /F1 5 0 R >> >>';
    return {
      entries: `/Type /XObject /Subtype /Form /BBox [0 0 612 792] ${next}`,
      data: index + 1 < depth ? '/X Do /X Do\n' : hello,
    };
  });
  return pdfPage({ data: '/X Do\n' }, forms, '/XObject << /X 6 0 R >>');
}
/** Graphics states that are saved but never restored. */
export const savedStates = (count = 2_000_000): Buffer => pdfPage({ data: `${'q\n'.repeat(count)}${hello}` });
/** A page tree that contains itself. */
export const pageLoop = (): Buffer =>
  pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Pages /Parent 2 0 R /Kids [2 0 R] /Count 1 >>',
  ]);
export const randomPdf = (): Buffer => Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(50_000)]);
/** Scripts that run when the document is opened, when a page is opened, and by name. */
export const scripted = (): Buffer =>
  pdfPage(
    { data: drawing([{ text: 'Built a harmless service with care', x: 72, y: 700 }]) },
    ['<< /S /JavaScript /JS (app.alert\\(1\\); while \\(true\\) { }) >>'],
    '',
    '/OpenAction 6 0 R /Names << /JavaScript << /Names [(x) 6 0 R] >> >> /AA << /WC 6 0 R >>',
  );
/** A page without text, with a picture of one grey pixel. */
export const pictureOnly = (): Buffer =>
  pdfPage(
    { data: 'q 600 0 0 780 0 0 cm /I Do Q' },
    [
      {
        entries: '/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8',
        data: Buffer.from([128]),
      },
    ],
    '/XObject << /I 6 0 R >>',
  );
/** A PDF that claims two billion pages and has one. */
export const pageLie = (): Buffer =>
  pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 2000000000 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    { data: drawing([{ text: 'Led the only page that there is', x: 72, y: 700 }]) },
    font,
  ]);

const padding = Buffer.from('28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A', 'hex');
const padded = (password: string): Buffer => Buffer.concat([Buffer.from(password, 'latin1'), padding]).subarray(0, 32);
const md5 = (...parts: Buffer[]): Buffer => createHash('md5').update(Buffer.concat(parts)).digest();

/** RC4, which OpenSSL no longer provides. */
function rc4(key: Buffer, data: Buffer): Buffer {
  const state = Uint8Array.from({ length: 256 }, (_, index) => index);
  for (let i = 0, j = 0; i < 256; i += 1) {
    j = (j + state[i]! + key[i % key.length]!) & 255;
    [state[i], state[j]] = [state[j]!, state[i]!];
  }
  let i = 0;
  let j = 0;
  return Buffer.from(
    data.map((byte) => {
      i = (i + 1) & 255;
      j = (j + state[i]!) & 255;
      [state[i], state[j]] = [state[j]!, state[i]!];
      return byte ^ state[(state[i]! + state[j]!) & 255]!;
    }),
  );
}

/**
 * A PDF encrypted by the standard handler with 128-bit AES (revision 4). With an empty user password everybody may read
 * the file. The owner password only controls who may change it.
 */
export function encryptedPdf(line: string, userPassword: string): Buffer {
  const id = Buffer.from('0123456789abcdef');
  const permissions = -4;
  const times = (count: number, first: Buffer): Buffer => {
    let hash = first;
    for (let turn = 0; turn < count; turn += 1) hash = md5(hash);
    return hash;
  };
  const each = (key: Buffer, data: Buffer): Buffer =>
    Array.from({ length: 20 }, (_, turn) => turn).reduce(
      (value, turn) => rc4(Buffer.from(key.map((byte) => byte ^ turn)), value),
      data,
    );
  const owner = each(times(50, md5(padded('owner'))), padded(userPassword));
  const flags = Buffer.alloc(4);
  flags.writeInt32LE(permissions);
  const key = times(50, md5(padded(userPassword), owner, flags, id));
  const user = Buffer.concat([each(key, md5(padding, id)), Buffer.alloc(16)]);
  const seal = (object: number, data: Buffer): Buffer => {
    const own = md5(key, Buffer.from([object & 255, (object >> 8) & 255, 0, 0, 0]), Buffer.from('sAlT'));
    const iv = randomBytes(16);
    const cipher = createCipheriv('aes-128-cbc', own, iv);
    return Buffer.concat([iv, cipher.update(data), cipher.final()]);
  };
  const hex = (bytes: Buffer): string => `<${bytes.toString('hex')}>`;
  const content = seal(4, Buffer.from(drawing([{ text: line, x: 72, y: 700 }]), 'latin1'));
  const encrypt = `<< /Filter /Standard /V 4 /R 4 /Length 128 /P ${permissions} /O ${hex(owner)} /U ${hex(user)} /CF << /StdCF << /CFM /AESV2 /AuthEvent /DocOpen /Length 16 >> >> /StmF /StdCF /StrF /StdCF >>`;
  return pdfPage({ data: content }, [encrypt], '', '', `/Encrypt 6 0 R /ID [${hex(id)} ${hex(id)}]`);
}
