/**
 * Reads a request's body with koa-body, bounded in size: as JSON or as raw bytes. upload.ts reads a form with a file.
 * This file does not depend on routes.
 */
import { HttpMethodEnum, koaBody } from 'koa-body';
import type { ParameterizedContext } from 'koa';
import { Problem } from '../../models/rules/base/errors.ts';

/**
 * The methods whose body is read. koa-body leaves out DELETE; here a DELETE's body is read too, so that a route that
 * takes no body refuses the request instead of ignoring the body.
 */
export const parsedMethods = [HttpMethodEnum.POST, HttpMethodEnum.PUT, HttpMethodEnum.PATCH, HttpMethodEnum.DELETE];
/**
 * koa-body is a middleware and must be given a `next`. The readers here continue after koa-body on their own, so this
 * `next` does nothing.
 */
export const noNext = (): Promise<void> => Promise.resolve();

type Reader<T> = (koa: ParameterizedContext) => Promise<T>;

/**
 * Reads JSON of at most `limit` bytes; a request without a body gives an empty object. The reader throws
 * `MALFORMED_JSON`, `TOO_LARGE`, `UNSUPPORTED_MEDIA_TYPE`, and `VALIDATION` when the body is cut off, is nested too
 * deep or has a field `__proto__`.
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
      // A chunked body may be empty, and an empty body needs no media type.
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
 * Reads at most `limit` raw bytes of any media type; the result is empty when there is no body. Signatures are computed
 * over these bytes. koa-body's option `includeUnparsed` would return the body only after parsing, and as text.
 */
export function bytesReader(limit: number): Reader<Buffer<ArrayBuffer>> {
  // The `binary` encoding has one character per byte, so that the conversion back loses nothing.
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
    // RFC 9110, 8.3: a body without a media type may be treated as bytes. koa-body would leave it unread.
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

/** Parses bytes as JSON; no bytes give an empty object. @throws Problem `MALFORMED_JSON`, `VALIDATION`. */
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

/** Refuses raw bytes that are JSON nested too deep; bytes that are not JSON pass. @throws Problem `VALIDATION` */
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
 * The deepest nesting of JSON that is accepted. MongoDB stores no more, and recursive code would overflow the stack.
 * Real requests use fewer than twenty levels.
 */
const maxNesting = 100;

/** Returns the value unless it is nested too deep. @throws Problem `VALIDATION` */
export function shallow<T>(value: T): T {
  if (nestsDeeper(value, maxNesting))
    throw new Problem('VALIDATION', {
      details: [{ path: ['body'], message: `may nest ${maxNesting} levels deep, not more` }],
    });
  return value;
}

/**
 * Whether a value is nested deeper than `levels`. The function goes no deeper than that, so its recursion is bounded.
 */
function nestsDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  const fields = value as Record<string, unknown>;
  // `for … in` is safe because parsed JSON has only own fields. `Object.values` would copy each level.
  for (const name in fields) if (nestsDeeper(fields[name], levels - 1)) return true;
  return false;
}

function hasBody({ request, req }: ParameterizedContext): boolean {
  return request.length === undefined ? req.headers['transfer-encoding'] !== undefined : request.length > 0;
}

/**
 * Refuses a compressed body. koa-body would decompress it, but at the size limit koa-body stops listening to the
 * decompressor's errors. After that, corrupt data would end this process, and the process would not notice that a
 * client disconnected.
 */
export function refuseEncoded(koa: ParameterizedContext): void {
  if (/^(?:identity)?$/i.test(koa.get('content-encoding'))) return;
  throw new Problem('UNSUPPORTED_MEDIA_TYPE', { message: 'Send the body without Content-Encoding, uncompressed.' });
}

/**
 * Turns an error of koa-body into a problem. The error is not kept as the cause, because it contains the whole body.
 */
function unreadable(error: unknown, limit: number): Problem {
  const { name, message, type } = error as { name: string; message: string; type?: string };
  if (type === 'entity.too.large') return new Problem('TOO_LARGE', { message: `This body may have ${limit} bytes.` });
  if (name !== 'SyntaxError') return new Problem('VALIDATION', { message: 'The body did not arrive whole.' });
  // koa-body's JSON parser always refuses a field named `__proto__`, with this message.
  if (message.includes('forbidden prototype property'))
    return new Problem('VALIDATION', { message: 'No field may be named `__proto__`; take it out.' });
  return new Problem('MALFORMED_JSON', { message: `The body is not valid JSON: ${message}` });
}
