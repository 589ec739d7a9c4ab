/** Reads a request's body, bounded in size: as raw bytes or as JSON. upload.ts reads a form with a file. */
import type { ParameterizedContext } from 'koa';
import getRawBody, { type RawBodyError } from 'raw-body';
import { invalid, Problem } from '../../models/rules/base/errors.ts';
import { jsonIn } from '../../models/rules/base/json.ts';

type Reader<T> = (koa: ParameterizedContext) => Promise<T>;

/**
 * Reads JSON of at most `limit` bytes; a request without a body gives an empty object. The reader throws
 * `MALFORMED_JSON`, `TOO_LARGE`, `UNSUPPORTED_MEDIA_TYPE`, and `VALIDATION` when the body is cut off, is nested too
 * deep or has a field `__proto__`.
 */
export function jsonReader(limit: number): Reader<unknown> {
  const readBytes = bytesReader(limit);
  return async (koa) => {
    if (koa.is('application/json')) return jsonOf(await readBytes(koa));
    // A chunked body may be empty, and an empty body needs no media type.
    if (!koa.request.length && (await readBytes(koa)).length === 0) return {};
    throw new Problem('UNSUPPORTED_MEDIA_TYPE', { message: 'Send the body as Content-Type: application/json.' });
  };
}

/**
 * Reads at most `limit` raw bytes of any media type; the result is empty when there is no body. Signatures are computed
 * over these bytes. A body over the limit is left unread, and the connection stays open for the reply.
 */
export function bytesReader(limit: number): Reader<Buffer> {
  return async (koa) => {
    if (!hasBody(koa)) return Buffer.alloc(0);
    refuseEncoded(koa);
    return getRawBody(koa.req, { limit, length: koa.request.length }).catch((error: RawBodyError) => {
      if (error.type === 'entity.too.large')
        throw new Problem('TOO_LARGE', { message: `This body may have ${limit} bytes.` });
      throw new Problem('VALIDATION', { message: 'The body did not arrive whole.' });
    });
  };
}

/**
 * This decoder drops a byte order mark, and throws on bytes that are not UTF-8. Otherwise a text in another encoding
 * would be stored with replacement characters.
 */
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Parses bytes as JSON; no bytes give an empty object. @throws Problem `MALFORMED_JSON`, `VALIDATION`. */
export function jsonOf(bytes: Buffer): unknown {
  if (bytes.length === 0) return {};
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(bytes));
  } catch (error) {
    throw new Problem('MALFORMED_JSON', { message: `The body is not valid JSON: ${(error as Error).message}` });
  }
  return shallow(value, '__proto__');
}

/** Refuses raw bytes that are JSON nested too deep; bytes that are not JSON pass. @throws Problem `VALIDATION` */
export function refuseNested(bytes: Buffer): void {
  shallow(jsonIn(bytes));
}

/**
 * The deepest nesting of JSON that is accepted. MongoDB stores no more, and recursive code would overflow the stack.
 * Real requests use fewer than twenty levels.
 */
const maxNesting = 100;

/**
 * Returns the value unless it is nested deeper than `levels` or has a field named `forbidden`. The function goes no
 * deeper than `levels`, so its recursion is bounded.
 * @throws Problem `VALIDATION`
 */
export function shallow(value: unknown, forbidden?: string, levels = maxNesting): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) throw invalid(['body'], `may nest ${maxNesting} levels deep, not more`);
  const fields = value as Record<string, unknown>;
  // `for … in` is safe because parsed JSON has only own fields. `Object.values` would copy each level.
  for (const name in fields) {
    if (name === forbidden)
      throw new Problem('VALIDATION', { message: `No field may be named \`${name}\`; take it out.` });
    shallow(fields[name], forbidden, levels - 1);
  }
  return value;
}

function hasBody({ request, req }: ParameterizedContext): boolean {
  return request.length === undefined ? req.headers['transfer-encoding'] !== undefined : request.length > 0;
}

/** Refuses a compressed body, because this server decompresses no bodies. */
export function refuseEncoded(koa: ParameterizedContext): void {
  if (/^(?:identity)?$/i.test(koa.get('content-encoding'))) return;
  throw new Problem('UNSUPPORTED_MEDIA_TYPE', { message: 'Send the body without Content-Encoding, uncompressed.' });
}
