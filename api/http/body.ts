/** Reads what a request carries: path, query, a JSON body, or a form with one file, bounded in size. */
import { createHash, createHmac, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import busboy from 'busboy';
import type { ParameterizedContext } from 'koa';
import getRawBody from 'raw-body';
import { z } from 'zod';
import { parse, type Route } from './route.ts';
import type { Config } from '../../config.ts';
import { Problem } from '../../models/rules/base/errors.ts';

const MAX_JSON_BYTES = 1024 * 1024;
/** From callers who have shown no credential: what they send is an e-mail, a password, a name. */
const MAX_OPEN_JSON_BYTES = 16 * 1024;
/** Of a route that takes no body, one is read to be refused, and this much of it. */
const noBody = z.strictObject({});
/** Beside the file: names, boundaries and the few text fields of a form. */
const MAX_FORM_FIELD_BYTES = 16 * 1024;

export type UploadedFile = {
  /** A temporary file, removed when the request is over. */
  path: string;
  filename: string;
  size: number;
  /** Hexadecimal. */
  sha256: string;
};

export type ParsedInput = AsyncDisposable & {
  params: unknown;
  query: unknown;
  body: unknown;
  file: UploadedFile | undefined;
  /** What an Idempotency-Key is bound to: the same for the same request. */
  fingerprint(): string;
};

/** Parses everything a route's schemas name. Throws `VALIDATION`, `MALFORMED_JSON`, `TOO_LARGE`, `UNSUPPORTED_MEDIA_TYPE`. */
export async function parseInput(route: Route, koa: ParameterizedContext, config: Config): Promise<ParsedInput> {
  const params = route.params ? parse(route.params, koa['params'], 'params') : undefined;
  const query = route.query ? parse(route.query, koa.query, 'query') : undefined;
  const { fields, file } = route.upload
    ? await readForm(koa, config.maxUploadBytes)
    : { fields: koa.method === 'GET' ? undefined : await readJson(koa, jsonLimit(route)), file: undefined };
  const dispose = async () => {
    if (file) await rm(file.path, { force: true });
  };
  try {
    const body = route.body ? parse(route.body, fields, 'body') : undefined;
    if (!route.body && fields !== undefined) parse(noBody, fields, 'body');
    return {
      params,
      query,
      body,
      file,
      // Keyed, for a body may hold a password, and a plain hash of one could be guessed from a stolen database.
      fingerprint: () =>
        createHmac('sha256', config.secretKey)
          .update(JSON.stringify([body, query, file && [file.filename, file.sha256]]))
          .digest('hex'),
      [Symbol.asyncDispose]: dispose,
    };
  } catch (error) {
    await dispose();
    throw error;
  }
}

const jsonLimit = (route: Route): number =>
  route.body && route.auth.kind !== 'open' ? MAX_JSON_BYTES : MAX_OPEN_JSON_BYTES;

async function readJson(koa: ParameterizedContext, limit: number): Promise<unknown> {
  if (koa.request.length === 0 || (koa.request.length === undefined && !koa.get('transfer-encoding'))) return {};
  const isJson = Boolean(koa.is('application/json'));
  const unsupported = () =>
    new Problem('UNSUPPORTED_MEDIA_TYPE', { message: 'Send the body as Content-Type: application/json.' });
  // What is sent in pieces may be nothing at all, which needs no type.
  if (!isJson && koa.request.length !== undefined) throw unsupported();
  const text = await getRawBody(koa.req, { limit, length: koa.request.length, encoding: 'utf8' }).catch(
    (error: { type?: string }) => {
      throw error.type === 'entity.too.large'
        ? new Problem('TOO_LARGE', { message: `This JSON body may have ${limit} bytes.` })
        : new Problem('VALIDATION', { message: 'The body did not arrive whole.', cause: error });
    },
  );
  if (text === '') return {};
  if (!isJson) throw unsupported();
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new Problem('MALFORMED_JSON', { message: `The body is not valid JSON: ${(error as Error).message}` });
  }
}

/**
 * Feeds a request to a parser of forms. After an error the rest is read and dropped, for a caller who is still sending
 * would lose the answer with the connection; Node's requestTimeout bounds that.
 */
async function readInto(form: Writable, request: IncomingMessage): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      form.once('close', resolve);
      form.on('error', reject);
      request.once('close', () => {
        if (!request.complete) reject(new Error('The connection was closed.'));
      });
      request.pipe(form);
    });
  } catch (error) {
    request.unpipe(form);
    form.destroy();
    if (!request.destroyed) await finished(request.resume()).catch(() => undefined);
    throw error;
  }
}

/** Why a form could not be read: busboy's words for what is wrong with it, or it broke off. */
function unreadableForm(error: unknown): Problem {
  if ((error as Error).message === 'Malformed part header') {
    const message = 'comes with a header that cannot be read; shorten its name and take control characters out of it';
    return new Problem('VALIDATION', { details: [{ path: ['body', 'file'], message }], cause: error });
  }
  return new Problem('VALIDATION', { message: 'The form did not arrive whole.', cause: error });
}

const uploadName = /^upload-[0-9a-f-]{36}$/;
/** An upload is over in minutes; after so long, ms, nobody is writing to it. */
const ABANDONED_MS = 3_600_000;

/** Removes the temporary files of uploads whose process was killed. Throws one error for all that it could not remove. */
export async function sweepUploads(folder = tmpdir()): Promise<void> {
  const failures: unknown[] = [];
  for (const name of (await readdir(folder)).filter((name) => uploadName.test(name))) {
    const path = join(folder, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Infinity }));
    if (mtimeMs >= Date.now() - ABANDONED_MS) continue;
    await rm(path, { force: true }).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} of them could not be removed.`);
}

/** Streams the one file to disk, counting and hashing; nothing of it is held in memory. */
async function readForm(
  koa: ParameterizedContext,
  maxBytes: number,
): Promise<{ fields: Record<string, string>; file: UploadedFile }> {
  if (!koa.is('multipart/form-data')) {
    throw new Problem('UNSUPPORTED_MEDIA_TYPE', {
      message: 'Send the file as multipart/form-data, in the field `file`.',
    });
  }
  const fields: Record<string, string> = Object.create(null) as Record<string, string>;
  const path = join(tmpdir(), `upload-${randomUUID()}`);
  const hash = createHash('sha256');
  let filename: string | undefined;
  let problem: Problem | undefined;
  let writing: Promise<void> = Promise.resolve();
  const invalid = (field: string, message: string) =>
    new Problem('VALIDATION', { details: [{ path: ['body', field], message }] });
  try {
    const form = busboy({
      headers: koa.req.headers,
      defParamCharset: 'utf8',
      preservePath: true,
      // busboy's limit is the first size it refuses.
      limits: { files: 1, fileSize: maxBytes + 1, fields: 20, fieldSize: MAX_FORM_FIELD_BYTES, parts: 25 },
    });
    form.on('field', (name, value, { valueTruncated, nameTruncated }) => {
      if (valueTruncated || nameTruncated) problem ??= invalid(name, 'is too long');
      else if (name in fields) problem ??= invalid(name, 'was sent twice');
      else fields[name] = value;
    });
    form.on('file', (name, stream, info) => {
      if (name !== 'file') {
        problem ??= invalid(name, 'is not a field of this request; send the file as `file`');
        stream.resume();
        return;
      }
      filename = info.filename ?? '';
      stream.on('data', (piece: Buffer) => hash.update(piece));
      stream.on(
        'limit',
        () => (problem ??= new Problem('TOO_LARGE', { message: `A file may have ${maxBytes} bytes; split it.` })),
      );
      writing = pipeline(stream, createWriteStream(path, { mode: 0o600 }));
      writing.catch(() => undefined);
    });
    form.on('filesLimit', () => (problem ??= invalid('file', 'takes one file a request')));
    form.on('partsLimit', () => (problem ??= invalid('file', 'comes with too many fields')));
    form.on('fieldsLimit', () => (problem ??= invalid('file', 'comes with too many fields')));
    await readInto(form, koa.req).catch((error: unknown) => {
      problem ??= unreadableForm(error);
    });
    // A form that broke off has destroyed the file's stream, so this always settles.
    await writing.catch((error: unknown) => {
      if (!problem) throw error;
    });
    if (problem) throw problem;
    if (filename === undefined) throw invalid('file', 'is required');
    return {
      fields: { ...fields },
      file: { path, filename, size: (await stat(path)).size, sha256: hash.digest('hex') },
    };
  } catch (error) {
    await rm(path, { force: true });
    if (error instanceof Error && /^(Multipart|Malformed|Unsupported)/.test(error.message)) {
      throw new Problem('VALIDATION', { message: `The form is not valid: ${error.message}`, cause: error });
    }
    throw error;
  }
}
