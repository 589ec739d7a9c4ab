/**
 * Reads a form with one file, with formidable. The file is streamed to a temporary path while its hash is computed; it
 * is never held in memory.
 */
import { randomUUID } from 'node:crypto';
import { open, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { errors, formidable, multipart, type Part as PlainPart, type PluginFunction } from 'formidable';
import type { ParameterizedContext } from 'koa';
import { refuseEncoded } from './body.ts';
import { invalid, Problem } from '../../models/rules/base/errors.ts';

export type UploadedFile = {
  /** A temporary file, which is removed after the request. */
  path: string;
  filename: string;
  size: number;
  /** SHA-256, hexadecimal. */
  sha256: string;
};

/** The most bytes of all text fields of a form together. */
const maxFieldsBytes = 16 * 1024;
/** The most bytes of a part's headers, which name the field and its media type. */
const maxPartHeaderBytes = 16 * 1024;
const maxNameCharacters = 100;
/** The most parts of a form: one file and twenty fields. */
const maxParts = 21;

const invalidPart = (field: string, message: string) => invalid(['body', field.slice(0, maxNameCharacters)], message);

/**
 * Reads the form of a request whose file has at most `maxBytes`, and writes the file into `folder`. The caller removes
 * the file.
 * @throws Problem `TOO_LARGE`, `UNSUPPORTED_MEDIA_TYPE`, and `VALIDATION` naming the field.
 */
export async function readForm(
  koa: ParameterizedContext,
  maxBytes: number,
  folder = tmpdir(),
): Promise<{ fields: Record<string, string>; file: UploadedFile }> {
  if (!koa.is('multipart/form-data')) {
    const message = 'Send the file as multipart/form-data, in the field `file`.';
    throw new Problem('UNSUPPORTED_MEDIA_TYPE', { message });
  }
  refuseEncoded(koa);
  const path = join(folder, `upload-${randomUUID()}`);
  const parts = partsOf();
  // The file is opened here because formidable could open it after the form has failed, and would then leave it behind.
  // Only this process's user may read it.
  const written = (await open(path, 'wx', 0o600)).createWriteStream();
  const form = formidable({
    // A header may arrive in pieces that split a UTF-8 character. With `binary`, formidable keeps the bytes, and
    // `readHeader` decodes the complete header.
    encoding: 'binary',
    // Only these plugins are enabled: formidable's JSON plugin would read a form as JSON if the form's boundary
    // happened to contain the word `json`.
    enabledPlugins: [multipart, boundParts],
    hashAlgorithm: 'sha256',
    maxFileSize: maxBytes,
    maxFieldsSize: maxFieldsBytes,
    allowEmptyFiles: true,
    minFileSize: 0,
    fileWriteStreamHandler: () => written,
  });
  form.onPart = (part) => parts.take(part, (accepted) => form._handlePart(accepted));
  try {
    // A request that was aborted sends nothing more, and formidable would wait forever.
    if (koa.req.destroyed && !koa.req.complete) throw broken();
    const [fields, files] = await form.parse(koa.req).catch((error: unknown) => {
      throw parts.problem() ?? unreadable(error, maxBytes);
    });
    const problem = parts.problem();
    if (problem) throw problem;
    const file = files['file']?.[0];
    if (!file) throw invalidPart('file', 'is required');
    const { size, hash, originalFilename } = file;
    return {
      // Each field has one value, because `refusalOf` refuses a second one.
      fields: Object.fromEntries(Object.entries(fields).map(([name, values]) => [name, values?.[0] ?? ''])),
      file: { path, filename: originalFilename ?? '', size, sha256: hash! },
    };
  } catch (error) {
    // If the client still sends, closing the connection would lose the reply, so the rest of the body is read and
    // dropped. Node's `requestTimeout` bounds how long this reading takes.
    if (!koa.req.destroyed) await finished(koa.req.resume()).catch(() => undefined);
    await finished(written.destroy()).catch(() => undefined);
    await rm(path, { force: true });
    throw error;
  }
}

const broken = (cause?: unknown) => new Problem('VALIDATION', { message: 'The form did not arrive whole.', cause });

/** Turns an error of formidable, whose code is a number, into a problem. */
function unreadable(error: unknown, maxBytes: number): unknown {
  const { code } = error as { code?: unknown };
  if (code === errors.biggerThanMaxFileSize || code === errors.biggerThanTotalMaxFileSize)
    return new Problem('TOO_LARGE', { message: `A file may have ${maxBytes} bytes; split it.` });
  if (code === errors.unknownTransferEncoding)
    return new Problem('VALIDATION', {
      message: 'A part of the form names a Content-Transfer-Encoding; leave it out.',
    });
  if (code === errors.missingMultipartBoundary)
    return new Problem('VALIDATION', { message: 'The Content-Type of the form names no boundary.' });
  return typeof code === 'number' ? broken(error) : error;
}

/** A part as formidable's parser passes it; formidable's types lack the two fields that are added here. */
type Part = PlainPart & { headers: Record<string, string>; transferEncoding: string };

/** Checks each part before formidable handles it. A refused part is skipped, and the first refusal is kept. */
function partsOf() {
  let problem: Problem | undefined;
  let fieldBytes = 0;
  const names = new Set<string>();
  const take = (given: PlainPart, accept: (part: PlainPart) => void): void => {
    const part = given as Part;
    readHeader(part);
    const refusal = refusalOf(part, names);
    problem ??= refusal;
    if (refusal) return;
    const name = part.name!;
    names.add(name);
    // formidable has the same limit, but its error does not name the field.
    const count = (bytes: Buffer) => {
      fieldBytes += bytes.length;
      if (fieldBytes > maxFieldsBytes)
        problem ??= invalidPart(name, `is too long: all fields together may have ${maxFieldsBytes} bytes`);
    };
    if (part.mimetype === null) part.on('data', count);
    accept(part);
  };
  return { take, problem: () => problem };
}

/**
 * Decodes a part's header as UTF-8 and decides whether the part is a file. A part is a file if it has a filename or the
 * media type `application/octet-stream`. formidable would decide by whether there is a media type, which a text field
 * may have too.
 */
function readHeader(part: Part): void {
  const disposition = part.headers['content-disposition'] ?? '';
  part.name = part.name === null ? null : utf8(part.name);
  const plain = part.originalFilename === null ? null : utf8(part.originalFilename);
  part.originalFilename = encodedFilename(disposition) ?? plain;
  const isFile = part.originalFilename !== null || /^application\/octet-stream\b/i.test(part.mimetype ?? '');
  part.mimetype = isFile ? part.mimetype || 'application/octet-stream' : null;
  // formidable uses a text field's transfer encoding as its charset, and could not decode the encoding `8bit`.
  part.transferEncoding = 'utf-8';
}

const utf8 = (binary: string) => Buffer.from(binary, 'binary').toString('utf8');

/**
 * The file name in the parameter `filename*` (RFC 8187), undefined when there is none. Some clients send the parameter
 * although RFC 7578 excludes it.
 */
function encodedFilename(disposition: string): string | undefined {
  const encoded = /;\s*filename\*=utf-8'[^']*'([^;\s]+)/i.exec(disposition)?.[1];
  try {
    return encoded === undefined ? undefined : decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}

/** Why a part is refused; undefined when it is accepted. */
function refusalOf(part: Part, names: ReadonlySet<string>): Problem | undefined {
  const { name, headers, mimetype } = part;
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  if (Object.values(headers).some((value) => /[\u0000-\u0008\u000a-\u001f\u007f]/.test(value)))
    return invalidPart('file', 'comes with a header that cannot be read; take control characters out of the name');
  if (name === null) return invalidPart('file', 'comes with a part that has no name');
  if (name.length > maxNameCharacters)
    return invalidPart(name, `is a name of more than ${maxNameCharacters} characters`);
  if (name === '__proto__') return invalidPart(name, 'is not a field here; take it out');
  if (mimetype === null) return names.has(name) ? invalidPart(name, 'was sent twice') : undefined;
  if (name !== 'file') return invalidPart(name, 'is not a field here; send the file as `file`');
  return names.has('file') ? invalidPart('file', 'takes one file a request') : undefined;
}

/**
 * Adds bounds that formidable lacks: the size of a part's headers, which are held in memory, and the number of parts.
 */
const boundParts: PluginFunction = (given) => {
  const form = given as unknown as {
    _parser: NodeJS.EventEmitter | null;
    _error(problem: Problem): void;
  };
  let headerBytes = 0;
  let parts = 0;
  form._parser?.on('data', ({ name, start, end }: { name: string; start: number; end: number }) => {
    if (name === 'partBegin') {
      headerBytes = 0;
      parts += 1;
      if (parts > maxParts) form._error(invalidPart('file', `comes with more than ${maxParts - 1} other fields`));
    } else if (name === 'headerField' || name === 'headerValue') {
      headerBytes += end - start;
      if (headerBytes > maxPartHeaderBytes)
        form._error(
          invalidPart('file', `comes with a header of more than ${maxPartHeaderBytes} bytes; shorten its name`),
        );
    }
  });
};

const uploadName = /^upload-[0-9a-f-]{36}$/;
/** An upload takes minutes at most. If a file is older than this many ms, its process has died. */
const abandonedMs = 3_600_000;

/**
 * Removes the temporary files of uploads whose process was killed. Throws one error that lists all files it could not
 * remove.
 */
export async function sweepUploads(folder = tmpdir()): Promise<void> {
  const failures: unknown[] = [];
  for (const name of (await readdir(folder)).filter((name) => uploadName.test(name))) {
    const path = join(folder, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Infinity }));
    if (mtimeMs >= Date.now() - abandonedMs) continue;
    await rm(path, { force: true }).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} of them could not be removed.`);
}
