/**
 * Reads and decodes the body of a reply, up to a limit of decoded bytes. It uses one buffer, whose size doubles when it
 * is full, instead of a list of chunks. So a server that sends single bytes does not cause one object for each byte.
 */
import { pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { HttpError } from '../../models/rules/base/http.ts';
import { httpErrorOf } from './begin.ts';

export type BodyOptions = {
  url: string;
  /** The Content-Encoding header. */
  encoding: string | undefined;
  /** Maximum number of decoded bytes. */
  maxBytes: number;
  /** Truncates a body that is longer than `maxBytes`, instead of failing. */
  cut?: boolean | undefined;
};

type Decoder = (firstByte: number) => Transform;

const decoders: Record<string, Decoder> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  br: () => createBrotliDecompress(),
  // Some servers send raw deflate data without zlib's header. The low four bits of that header's first byte are 8.
  deflate: (firstByte) => ((firstByte & 0x0f) === 8 ? createInflate() : createInflateRaw()),
};
/** The value of the Accept-Encoding header that the client sends. */
export const acceptedEncodings = 'gzip, deflate, br';

/**
 * The decoder for a Content-Encoding. Undefined when the body is not encoded; 'unknown' for several encodings, or for
 * one that the client did not offer.
 */
function decoderFor(encoding: string | undefined): Decoder | 'unknown' | undefined {
  const layers = (encoding ?? '')
    .toLowerCase()
    .split(',')
    .map((layer) => layer.trim())
    .filter((layer) => layer !== '' && layer !== 'identity');
  const [layer] = layers;
  if (layer === undefined) return undefined;
  // With several encodings, the data could expand between two decoders (a decompression bomb), where no size limit
  // applies.
  return layers.length === 1 && Object.hasOwn(decoders, layer) ? decoders[layer]! : 'unknown';
}

/** The decoded pieces of a body. A failure of the body or its decoder is thrown. */
async function* decoded(body: Readable, { url, encoding }: BodyOptions): AsyncGenerator<Buffer, void> {
  const decoderOf = decoderFor(encoding);
  if (decoderOf === undefined) {
    yield* body;
    return;
  }
  const pieces = body[Symbol.asyncIterator]();
  const first = (await pieces.next()) as IteratorResult<Buffer, undefined>;
  // A reply without a body (HEAD, 304) may have a Content-Encoding too.
  if (first.done) return;
  if (decoderOf === 'unknown') {
    const cause = new Error(`the reply is encoded as ${encoding}, which was not offered`);
    throw new HttpError('protocol', { url, cause });
  }
  const decoder = decoderOf(first.value[0]!);
  const encoded = async function* () {
    yield first.value;
    yield* pieces;
  };
  // A failure of `encoded` also destroys the decoder, so reading the decoder below throws the failure.
  pipeline(encoded, decoder, () => undefined);
  yield* decoder;
}

/** Reads a whole body, or with `cut` its first `maxBytes`. The caller destroys the body. @throws HttpError */
export async function readBody(body: Readable, options: BodyOptions): Promise<Buffer> {
  const { url, maxBytes, cut } = options;
  let store = Buffer.alloc(0);
  let length = 0;
  try {
    for await (const piece of decoded(body, options)) {
      const kept = cut ? piece.subarray(0, maxBytes - length) : piece;
      const at = length;
      length += kept.length;
      if (length > maxBytes) throw new HttpError('too_large', { url });
      if (length > store.length) {
        const larger = Buffer.allocUnsafe(Math.min(maxBytes, Math.max(length, store.length * 2)));
        store.copy(larger, 0, 0, at);
        store = larger;
      }
      kept.copy(store, at);
      if (kept.length < piece.length) break;
    }
    return store.subarray(0, length);
  } catch (error) {
    throw httpErrorOf(error, { url, bytes: length });
  }
}
