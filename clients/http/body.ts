/**
 * Collects and decodes the body of a reply, up to a limit of decoded bytes. It uses one buffer instead of a list of
 * chunks, so that a server that sends single bytes does not cause one object for each.
 */
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import type { Transform } from 'node:stream';

export type BodyFailure = 'too_large' | 'protocol';

export type BodyOptions = {
  /** The Content-Encoding header. */
  encoding: string | undefined;
  /** Maximum number of decoded bytes. */
  maxBytes: number;
  /** Truncates a body that is longer than `maxBytes`, instead of failing. */
  cut?: boolean | undefined;
  /** The Content-Length header, which is only a hint for the first buffer's size. */
  expectedBytes: number | undefined;
  /** `rest`: whether the body was truncated. */
  onDone(body: Buffer, rest?: boolean): void;
  /** Called at most once; no other callback follows. */
  onFail(reason: BodyFailure, cause?: unknown): void;
  /** Called when `write` may be called again after it returned false. */
  onDrain(): void;
};

export type Body = {
  /** Returns false when the caller must wait for `onDrain`. */
  write(chunk: Buffer): boolean;
  end(): void;
  /** Discards everything; no callback follows. */
  destroy(): void;
  /** The number of decoded bytes so far. */
  bytes(): number;
};

/** Maximum size of the first buffer, because a server may claim any Content-Length. */
const firstBufferBytes = 256 * 1024;

/**
 * A buffer that doubles its size when it is full, up to `maxBytes`. While its content is copied, the old and the new
 * buffer together take up to one and a half times `maxBytes`.
 */
function createStore({ maxBytes, expectedBytes = 16 * 1024 }: Pick<BodyOptions, 'maxBytes' | 'expectedBytes'>) {
  let buffer: Buffer | undefined;
  let length = 0;
  return {
    /** Returns false when the chunk does not fit; the chunk is then not stored. */
    append(chunk: Buffer): boolean {
      const needed = length + chunk.length;
      if (needed > maxBytes) {
        buffer = undefined;
        length = needed;
        return false;
      }
      buffer ??= Buffer.allocUnsafe(Math.min(maxBytes, Math.max(needed, Math.min(expectedBytes, firstBufferBytes))));
      if (needed > buffer.length) {
        const larger = Buffer.allocUnsafe(Math.min(maxBytes, Math.max(needed, buffer.length * 2)));
        buffer.copy(larger, 0, 0, length);
        buffer = larger;
      }
      chunk.copy(buffer, length);
      length = needed;
      return true;
    },
    length: () => length,
    take: (): Buffer => (buffer ?? Buffer.alloc(0)).subarray(0, length),
  };
}

type Decoder = (firstByte: number) => Transform;

const decoders: Record<string, Decoder> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  br: () => createBrotliDecompress(),
  // Some servers send raw deflate data without zlib's header. The low four bits of that header's first byte are 8.
  deflate: (firstByte) => ((firstByte & 0x0f) === 8 ? createInflate() : createInflateRaw()),
};
/** The value of our Accept-Encoding header. */
export const acceptedEncodings = 'gzip, deflate, br';

/**
 * The decoder for a Content-Encoding. Undefined when there is no encoding; 'unknown' for one that was not offered, or
 * for several.
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

export function createBody(options: BodyOptions): Body {
  const { onDone, onFail, onDrain } = options;
  const store = createStore(options);
  const decoderOf = decoderFor(options.encoding);
  let decoder: Transform | undefined;
  let over = false;

  const destroy = (): void => {
    over = true;
    decoder?.destroy();
  };
  const fail = (reason: BodyFailure, cause?: unknown): void => {
    if (over) return;
    destroy();
    onFail(reason, cause);
  };
  const append = (chunk: Buffer): void => {
    if (over) return;
    const room = options.maxBytes - store.length();
    if (!options.cut || chunk.length <= room) {
      if (!store.append(chunk)) fail('too_large');
      return;
    }
    store.append(chunk.subarray(0, room));
    destroy();
    onDone(store.take(), true);
  };
  const start = (create: Decoder, firstByte: number): Transform =>
    create(firstByte)
      .on('data', append)
      .on('drain', onDrain)
      .on('error', (error) => fail('protocol', error))
      .on('end', () => {
        if (!over) onDone(store.take());
      });

  return {
    write(chunk) {
      if (over || chunk.length === 0) return true;
      if (decoderOf === undefined) {
        append(chunk);
        return true;
      }
      if (decoderOf === 'unknown') {
        fail('protocol', new Error(`the reply is encoded as ${options.encoding}, which was not offered`));
        return true;
      }
      decoder ??= start(decoderOf, chunk[0]!);
      return decoder.write(chunk);
    },
    end() {
      if (over) return;
      // A reply without a body (HEAD, 304) may have a Content-Encoding too; no decoder was created for it.
      if (decoder) decoder.end();
      else onDone(store.take());
    },
    destroy,
    bytes: () => store.length(),
  };
}
