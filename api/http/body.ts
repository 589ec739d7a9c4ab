/**
 * Reads the body of a request with koa-body, bounded in size: as JSON, or as the bytes that were sent. upload.ts reads
 * a form with a file. This file knows nothing of routes.
 */
import { HttpMethodEnum, koaBody } from 'koa-body';
import type { ParameterizedContext } from 'koa';
import { Problem } from '../../models/rules/base/errors.ts';

/**
 * koa-body leaves out DELETE. Its body is read here as well, so that a route which takes no body refuses one instead of
 * dropping it.
 */
export const parsedMethods = [HttpMethodEnum.POST, HttpMethodEnum.PUT, HttpMethodEnum.PATCH, HttpMethodEnum.DELETE];
/** koa-body is a middleware and calls `next`; here the caller continues by itself, so `next` does nothing. */
export const noNext = (): Promise<void> => Promise.resolve();

type Reader<T> = (koa: ParameterizedContext) => Promise<T>;

/**
 * Reads JSON of at most `limit` bytes; a request without a body gives an empty object.
 * The reader throws `MALFORMED_JSON`, `TOO_LARGE`, `UNSUPPORTED_MEDIA_TYPE`, and `VALIDATION` when the body breaks off or nests too
 * deep.
 */
export function jsonReader(limit: number): Reader<unknown> {
  const read = koaBody({
    parsedMethods,
    jsonTypes: ['application/json'],
    jsonLimit: limit,
    // The schema of the route decides whether a bare text or number is accepted.
    jsonStrict: false,
    text: false,
    urlencoded: false,
  });
  const readBytes = bytesReader(limit);
  return async (koa) => {
    if (!hasBody(koa)) return {};
    if (!koa.is('application/json')) {
      // A chunked body may be empty, and an empty body needs no type.
      if (koa.request.length === undefined && (await readBytes(koa)).length === 0) return {};
      throw new Problem('UNSUPPORTED_MEDIA_TYPE', { message: 'Send the body as Content-Type: application/json.' });
    }
    refuseEncoded(koa);
    await read(koa, noNext).catch((error: unknown) => {
      throw unreadable(error, limit);
    });
    const body = koa.request.body as unknown;
    return body === '' ? {} : shallow(body);
  };
}

/**
 * Reads at most `limit` bytes as they were sent, whatever their type; the result is empty when there is no body.
 * Signatures are computed over these bytes. koa-body's `includeUnparsed` would return them only after parsing, and as
 * text.
 */
export function bytesReader(limit: number): Reader<Buffer<ArrayBuffer>> {
  // Binary text has one character per byte, so that no byte is lost when it is converted back.
  const read = koaBody({
    parsedMethods,
    textTypes: ['*/*'],
    textLimit: limit,
    encoding: 'binary',
    json: false,
    urlencoded: false,
  });
  return async (koa) => {
    if (!hasBody(koa)) return Buffer.alloc(0);
    refuseEncoded(koa);
    // RFC 9110, 8.3: a body without a type may be treated as bytes. koa-body would leave it unread.
    koa.req.headers['content-type'] ??= 'application/octet-stream';
    await read(koa, noNext).catch((error: unknown) => {
      throw unreadable(error, limit);
    });
    const { body } = koa.request;
    if (typeof body !== 'string')
      throw new Problem('UNSUPPORTED_MEDIA_TYPE', { message: 'The Content-Type of this request cannot be read.' });
    return Buffer.from(body, 'binary');
  };
}

/** The JSON in bytes that were read before; an empty object when there are none. @throws Problem `MALFORMED_JSON`, `VALIDATION`. */
export function jsonOf(bytes: Buffer): unknown {
  if (bytes.length === 0) return {};
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw unreadable(error, bytes.length);
  }
  return shallow(value);
}

/** Refuses JSON that nests too deep, in bytes that a route takes as they were sent; what is no JSON passes. */
export function refuseNested(bytes: Buffer): void {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch {
    return;
  }
  shallow(value);
}

/**
 * Deeper nesting than this is refused: MongoDB stores no more, and code that walks a value would run out of stack. People and
 * services use less than twenty levels.
 */
const maxNesting = 100;

/** The value, unless it nests too deep. @throws Problem `VALIDATION` */
export function shallow<T>(value: T): T {
  if (nestsDeeper(value, maxNesting))
    throw new Problem('VALIDATION', {
      details: [{ path: ['body'], message: `may nest ${maxNesting} levels deep, not more` }],
    });
  return value;
}

/** Looks no deeper than that, so that it needs little stack itself. */
function nestsDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  const fields = value as Record<string, unknown>;
  // An object of JSON has no field but its own; a list of its values would be a copy of each level.
  for (const name in fields) if (nestsDeeper(fields[name], levels - 1)) return true;
  return false;
}

function hasBody({ request, req }: ParameterizedContext): boolean {
  return request.length === undefined ? req.headers['transfer-encoding'] !== undefined : request.length > 0;
}

/**
 * Refuses a compressed body. koa-body would decompress it, but listens to its decompressor only up to the limit. After
 * that, bytes that cannot be decompressed would end this process, and it would never notice that a client left.
 */
export function refuseEncoded(koa: ParameterizedContext): void {
  if (/^(?:identity)?$/i.test(koa.get('content-encoding'))) return;
  throw new Problem('UNSUPPORTED_MEDIA_TYPE', { message: 'Send the body without Content-Encoding, uncompressed.' });
}

/** The problem behind an error of koa-body. The error is not kept as the cause, because it holds the whole body. */
function unreadable(error: unknown, limit: number): Problem {
  const { name, message, type } = error as { name: string; message: string; type?: string };
  if (type === 'entity.too.large') return new Problem('TOO_LARGE', { message: `This body may have ${limit} bytes.` });
  if (name !== 'SyntaxError') return new Problem('VALIDATION', { message: 'The body did not arrive whole.' });
  // The parser's message for a field named `__proto__`, which it always refuses.
  if (message.includes('forbidden prototype property'))
    return new Problem('VALIDATION', { message: 'No field may be named `__proto__`; take it out.' });
  return new Problem('MALFORMED_JSON', { message: `The body is not valid JSON: ${message}` });
}
