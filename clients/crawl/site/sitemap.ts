/**
 * Parses one sitemap from its bytes: a list of pages or of sitemaps, in XML or plain text, gzipped or not. It fetches
 * nothing.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { TextDecoder } from 'node:util';
import { createGunzip } from 'node:zlib';
import { pieceBytes, textReader, xmlReader, type Reader, type SitemapKind, type SitemapStop } from './sitemapreader.ts';
import { defined } from '../../../models/rules/base/defined.ts';

/** `entries`: the URLs as written, trimmed. `bytes`: the number of decoded bytes that were read. */
export type Sitemap = { kind: SitemapKind; entries: string[]; bytes: number; stopped?: SitemapStop };

/** Limits of one file in the sitemap protocol (sitemaps.org): 50 MiB decoded, and 50,000 URLs. */
export const maxSitemapBytes = 50 * 1024 * 1024;
export const maxSitemapUrls = 50_000;

export type SitemapOptions = {
  /** Maximum number of decoded bytes; 50 MiB by default and at most. */
  maxBytes?: number;
  signal?: AbortSignal;
};

async function* decoded(bytes: Uint8Array, maxBytes: number): AsyncGenerator<Uint8Array | 'too_large'> {
  const gzipped = bytes[0] === 0x1f && bytes[1] === 0x8b;
  let room = maxBytes;
  for await (const piece of gzipped ? gunzip(bytes) : pieces(bytes)) {
    if (piece.length > room) {
      if (room > 0) yield piece.subarray(0, room);
      yield 'too_large';
      return;
    }
    room -= piece.length;
    yield piece;
  }
}

/**
 * Decompresses lazily. When the caller stops iterating, the stream is destroyed, so an archive bomb is never
 * decompressed further than needed.
 */
function gunzip(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  const stream = createGunzip({ chunkSize: pieceBytes });
  stream.end(bytes);
  return stream;
}

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    yield bytes.subarray(at, at + pieceBytes);
    await nextTurn();
  }
}

/** Chooses the decoder by byte order mark, then by XML declaration, otherwise UTF-8, as the protocol requires. */
function decoderFor(head: Uint8Array): TextDecoder {
  if (head[0] === 0xff && head[1] === 0xfe) return new TextDecoder('utf-16le');
  if (head[0] === 0xfe && head[1] === 0xff) return new TextDecoder('utf-16be');
  const declaration = Buffer.from(head.subarray(0, 200)).toString('latin1');
  const label = /^\s*<\?xml[^>]*\sencoding\s*=\s*["']([\w.:-]+)["']/i.exec(declaration)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(label);
  } catch {
    return new TextDecoder();
  }
}

/**
 * Parses one sitemap. Gzip is detected by the first bytes. Returns the readable part; `stopped` says why the rest is
 * missing. Throws only the signal's reason.
 */
export async function readSitemap(bytes: Uint8Array, options: SitemapOptions = {}): Promise<Sitemap> {
  const entries: string[] = [];
  const add = (loc: string): boolean => entries.length < maxSitemapUrls && entries.push(loc) > 0;
  let reader: Reader | undefined;
  let decoder: TextDecoder | undefined;
  let stopped: SitemapStop | undefined;
  let read = 0;
  const feed = (text: string): void => {
    // Blanks before the XML declaration are a common mistake that would make the XML invalid.
    const some = reader === undefined ? text.trimStart() : text;
    if (some === '') return;
    reader ??= some.startsWith('<') ? xmlReader(add) : textReader(add);
    reader.write(some);
    stopped = reader.stopped;
  };
  try {
    for await (const piece of decoded(bytes, Math.min(options.maxBytes ?? maxSitemapBytes, maxSitemapBytes))) {
      options.signal?.throwIfAborted();
      if (piece === 'too_large') stopped = 'too_large';
      else {
        read += piece.length;
        feed((decoder ??= decoderFor(piece)).decode(piece, { stream: true }));
      }
      if (stopped !== undefined) break;
    }
    if (stopped === undefined) {
      feed(decoder?.decode() ?? '');
      reader?.close();
      stopped = reader === undefined ? 'unknown' : reader.stopped;
    }
  } catch (error) {
    if (options.signal?.aborted === true) throw error;
    // The gzip stream is truncated or damaged; what was decompressed before is kept.
    stopped = 'broken';
  }
  return { kind: reader?.kind ?? 'unknown', entries, bytes: read, ...defined({ stopped }) };
}
