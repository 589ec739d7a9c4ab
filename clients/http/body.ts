/**
 * Takes the body of a reply in, decoding it on the way, up to a cap that counts decoded bytes. It keeps one buffer and no
 * chunks: a server that sends single bytes must not cost an object for each.
 */
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import type { Transform } from 'node:stream';

export type BodyFailure = 'too_large' | 'protocol';

export type BodyOptions = {
  /** The value of Content-Encoding. */
  encoding: string | undefined;
  /** Most decoded bytes. */
  maxBytes: number;
  /** What is beyond is left unread instead of being a failure. */
  cut?: boolean | undefined;
  /** What Content-Length says; a guess at the size, nothing more. */
  expectedBytes: number | undefined;
  /** `rest`: more would have followed. */
  onDone(body: Buffer, rest?: boolean): void;
  /** Called once; nothing follows. */
  onFail(reason: BodyFailure, cause?: unknown): void;
  /** More can be written after `write` gave false. */
  onDrain(): void;
};

export type Body = {
  /** False: write no more until `onDrain`. */
  write(chunk: Buffer): boolean;
  end(): void;
  /** Drops everything; no callback follows. */
  destroy(): void;
  /** Decoded bytes so far. */
  bytes(): number;
};

/** What is set aside before anything has arrived, at most: a length is easily claimed. */
const firstBufferBytes = 256 * 1024;

/** A buffer that doubles up to a limit. While it grows it takes up to one and a half times the limit. */
function createStore({ maxBytes, expectedBytes = 16 * 1024 }: Pick<BodyOptions, 'maxBytes' | 'expectedBytes'>) {
  let buffer: Buffer | undefined;
  let length = 0;
  return {
    /** False when it would not fit; then nothing is kept. */
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
  // Some servers send deflate without zlib's frame, whose first byte names method 8.
  deflate: (firstByte) => ((firstByte & 0x0f) === 8 ? createInflate() : createInflateRaw()),
};
/** What Accept-Encoding offers. */
export const acceptedEncodings = 'gzip, deflate, br';

/** The decoder for a Content-Encoding; undefined for none; 'unknown' for one not offered, or for layers of them. */
function decoderFor(encoding: string | undefined): Decoder | 'unknown' | undefined {
  const layers = (encoding ?? '')
    .toLowerCase()
    .split(',')
    .map((layer) => layer.trim())
    .filter((layer) => layer !== '' && layer !== 'identity');
  const [layer] = layers;
  if (layer === undefined) return undefined;
  // Layers multiply what a bomb expands to, out of sight of the cap.
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
      // Replies without a body (HEAD, 304) may still name an encoding.
      if (decoder) decoder.end();
      else onDone(store.take());
    },
    destroy,
    bytes: () => store.length(),
  };
}
