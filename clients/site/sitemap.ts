/**
 * Reads sitemaps: lists of pages in XML or plain text, lists of such lists, gzipped or not. It never fetches by itself:
 * `walkSitemaps` is given the fetch, so that every address goes through the one guarded HTTP client.
 */
import { setImmediate as breathe } from 'node:timers/promises';
import { TextDecoder } from 'node:util';
import { createGunzip } from 'node:zlib';
import { SaxesParser } from 'saxes';
import { createYielder } from '../base/yielding.ts';
import { canonicalUrl, maxUrlLength } from '../../models/rules/crawl/url.ts';

/** `urlset` and `text` name pages, `index` names sitemaps, `unknown` is something else (a page of HTML, a feed). */
export type SitemapKind = 'urlset' | 'index' | 'text' | 'unknown';

/** Why the rest of a file was not read. */
export const sitemapStops = {
  broken: 'The sitemap is broken; only what stands before the break was read.',
  too_large: 'The sitemap is larger than 50 MiB; the rest was not read.',
  too_many: 'The sitemap names more addresses than are read; the rest was not.',
  unknown: 'The file is no sitemap.',
} as const;
export type SitemapStop = keyof typeof sitemapStops;

/** `entries`: addresses as written, trimmed. `bytes`: how many were read, decoded. */
export type Sitemap = { kind: SitemapKind; entries: string[]; bytes: number; stopped?: SitemapStop };

/** Limits of one file from the sitemap protocol (sitemaps.org): 50 MiB decoded and 50,000 addresses. */
export const maxSitemapBytes = 50 * 1024 * 1024;
export const maxSitemapUrls = 50_000;

export type SitemapOptions = {
  /** At most this many entries, 50,000 unless less. */
  maxUrls?: number;
  /** Decoded bytes, 50 MiB unless less. */
  maxBytes?: number;
  signal?: AbortSignal;
};

/** Bytes handed to the parser in one go; between two pieces other work gets its turn. */
const pieceBytes = 64 * 1024;
/** The most, in bytes, between two tags: a longer text, comment or attribute has no business in a sitemap. */
const maxBetweenTags = 1024 * 1024;
/** Elements inside each other; a sitemap with all extensions known has five. */
const maxNesting = 32;

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

/** Unpacked piece by piece; leaving the loop early destroys the stream, so a bomb is never unpacked further than read. */
function gunzip(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  const stream = createGunzip({ chunkSize: pieceBytes });
  stream.end(bytes);
  return stream;
}

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    yield bytes.subarray(at, at + pieceBytes);
    await breathe();
  }
}

/** By the byte order mark, then the XML declaration; UTF-8 without either, as the protocol demands. */
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

type Reader = {
  write(text: string): void;
  close(): void;
  kind: SitemapKind;
  stopped: SitemapStop | undefined;
};

/** One address a line; what is none is the caller's to refuse. */
function textReader(add: (loc: string) => boolean): Reader {
  let rest = '';
  const reader: Reader = {
    kind: 'text',
    stopped: undefined,
    write(text) {
      const lines = (rest + text).split(/\r\n|\r|\n/);
      rest = lines.pop() ?? '';
      if (rest.length > maxBetweenTags) reader.stopped = 'broken';
      for (const line of lines) take(line);
    },
    close: () => take(rest),
  };
  const take = (line: string): void => {
    const loc = line.trim();
    if (loc === '' || reader.stopped !== undefined) return;
    if (!add(loc)) reader.stopped = 'too_many';
  };
  return reader;
}

const bareAmpersand = /&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[\da-f]{1,6});)/gi;
/** The longest reference, `&#1114111;`, less one: an `&` nearer to the end of a piece is looked at with the next one. */
const referenceTail = 9;

/**
 * Writes `&` as `&amp;` where it begins no reference that XML itself knows, piece by piece. Without it the parser would
 * take everything up to the next semicolon for the name of an entity.
 */
function ampersands(): (text: string, last?: boolean) => string {
  let held = '';
  return (text, last = false) => {
    const all = held + text;
    const at = last ? -1 : all.indexOf('&', Math.max(0, all.length - referenceTail));
    held = at < 0 ? '' : all.slice(at);
    return (at < 0 ? all : all.slice(0, at)).replaceAll(bareAmpersand, '&amp;');
  };
}

/** The root element's local name -> what the file is, and the element that holds an entry. */
const roots: Readonly<Record<string, { kind: SitemapKind; entry: string }>> = {
  urlset: { kind: 'urlset', entry: 'url' },
  sitemapindex: { kind: 'index', entry: 'sitemap' },
};
const localName = (name: string): string => name.slice(name.indexOf(':') + 1).toLowerCase();

/**
 * The addresses of an XML sitemap: `loc` directly below an entry directly below the root, under any namespace prefix, so
 * that the `loc` of an image or a video is none. The parser knows no entities but XML's own and fetches no DTD, so
 * nothing can expand. Bare ampersands, the commonest slip, are mended before; any error is the break.
 */
function xmlReader(add: (loc: string) => boolean): Reader {
  const parser = new SaxesParser({ position: false });
  const mend = ampersands();
  const path: string[] = [];
  let entryName = '';
  let text = '';
  let inLoc = false;
  let sinceTag = 0;
  const stop = (why: SitemapStop): void => {
    reader.stopped ??= why;
  };
  const keep = (more: string): void => {
    // A text without end must not gather; what is longer than an address may be is refused as one later.
    if (inLoc && text.length <= maxUrlLength) text += more.slice(0, maxUrlLength + 1);
  };
  const open = (local: string): void => {
    const root = roots[local];
    if (path.length === 0 && root === undefined) return stop('unknown');
    if (path.length === 0 && root !== undefined) {
      reader.kind = root.kind;
      entryName = root.entry;
    }
    if (path.length >= maxNesting) return stop('broken');
    path.push(local);
    const inEntry = path[1] === entryName;
    if (inEntry && path.length === 2) text = '';
    inLoc = inEntry && path.length === 3 && local === 'loc';
  };
  const close = (): void => {
    if (path.length === 2 && path[1] === entryName) {
      const loc = text.trim();
      if (loc !== '' && !add(loc)) stop('too_many');
    }
    path.pop();
    inLoc = false;
  };
  const unlessStopped = (act: () => void): void => {
    sinceTag = 0;
    if (reader.stopped === undefined) act();
  };
  parser.on('opentag', ({ name }) => unlessStopped(() => open(localName(name))));
  parser.on('closetag', () => unlessStopped(close));
  parser.on('text', keep);
  // What was mended was none of the parser's business in there.
  parser.on('cdata', (more) => keep(more.replaceAll('&amp;', '&')));
  // Most pages of HTML break before their first element.
  parser.on('error', () => stop(reader.kind === 'unknown' ? 'unknown' : 'broken'));
  const reader: Reader = {
    kind: 'unknown',
    stopped: undefined,
    write(text) {
      sinceTag += text.length;
      parser.write(mend(text));
      if (sinceTag > maxBetweenTags + pieceBytes) stop('broken');
    },
    close() {
      parser.write(mend('', true));
      parser.close();
    },
  };
  return reader;
}

const reasonOf = (signal: AbortSignal | undefined): void => signal?.throwIfAborted();

/**
 * Reads one sitemap, gzipped (seen by its first bytes) or not. What can be read is returned, and `stopped` says why the
 * rest was not. Throws only the signal's reason.
 */
export async function readSitemap(bytes: Uint8Array, options: SitemapOptions = {}): Promise<Sitemap> {
  const maxUrls = Math.min(options.maxUrls ?? maxSitemapUrls, maxSitemapUrls);
  const entries: string[] = [];
  const add = (loc: string): boolean => entries.length < maxUrls && entries.push(loc) > 0;
  let reader: Reader | undefined;
  let decoder: TextDecoder | undefined;
  let stopped: SitemapStop | undefined;
  let read = 0;
  const feed = (text: string): void => {
    // Blanks before the declaration are a common slip, and would make the file no XML.
    const some = reader === undefined ? text.trimStart() : text;
    if (some === '') return;
    reader ??= some.startsWith('<') ? xmlReader(add) : textReader(add);
    reader.write(some);
    stopped = reader.stopped;
  };
  try {
    for await (const piece of decoded(bytes, Math.min(options.maxBytes ?? maxSitemapBytes, maxSitemapBytes))) {
      reasonOf(options.signal);
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
    // A gzip stream that is cut or damaged: what came out before counts.
    stopped = 'broken';
  }
  return { kind: reader?.kind ?? 'unknown', entries, bytes: read, ...(stopped === undefined ? {} : { stopped }) };
}

/** The bytes of a sitemap, none when the site has no such file, or why it could not be had, for a person. */
export type SitemapFile = { bytes?: Uint8Array | undefined; problem?: string };

export type WalkOptions = {
  /** Addresses of sitemaps to begin with, absolute: those in robots.txt, or `/sitemap.xml`. */
  starts: readonly string[];
  /** Should refuse what is out of scope. */
  fetch(url: string): Promise<SitemapFile>;
  /** Whether a page (its canonical address) is wanted; those that are not do not count. */
  accept(url: string): boolean;
  /** Whether a page that is wanted may be fetched. */
  allowed(url: string): boolean;
  /** All pages together. */
  maxUrls: number;
  /** Pages that are wanted and may not be fetched; 10,000 unless given. Rules made to be slow cost a millisecond each. */
  maxRefused?: number;
  /** Fetched sitemaps, indexes included; 50 unless given. */
  maxFiles?: number;
  /** Decoded bytes of all of them, 200 MiB unless given: hostile XML costs a second of a core for some 10 MiB. */
  maxTotalBytes?: number;
  /** Whether it has taken so long that no further file is to be fetched. */
  isLate?(): boolean;
  signal?: AbortSignal;
};

export type Walk = {
  /** Canonical addresses, unique, in the order of the sitemaps. */
  pages: string[];
  files: number;
  /** What was not read, and why, for a person. */
  problems: { url: string; reason: string }[];
};

/** How deep indexes may name indexes; the protocol allows one level, some sites use two. */
const maxIndexDepth = 2;
/**
 * The pages of a site's sitemaps: indexes are followed two levels deep, each file is read once, all is bounded. Throws
 * what `fetch` throws, and the signal's reason.
 */
export async function walkSitemaps(options: WalkOptions): Promise<Walk> {
  const { maxUrls, maxRefused = 10_000, maxFiles = 50, isLate = () => false, signal } = options;
  let room = options.maxTotalBytes ?? 4 * maxSitemapBytes;
  let refused = 0;
  const walk: Walk = { pages: [], files: 0, problems: [] };
  const known = new Set<string>();
  const queue = options.starts.map((url) => ({ url, depth: 0 }));
  const seen = new Set(options.starts);
  const yieldTurn = createYielder();
  const note = (url: string, reason: string): void => void walk.problems.push({ url, reason });
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    reasonOf(signal);
    const { url: at, depth } = next;
    if (walk.files >= maxFiles || room <= 0 || (walk.files > 0 && isLate())) {
      note(at, 'The sitemaps together are too many, too large or too slow; this one and later ones were not read.');
      break;
    }
    walk.files += 1;
    const { bytes, problem } = await options.fetch(at);
    if (problem !== undefined) note(at, problem);
    if (bytes === undefined) continue;
    const limits = { maxBytes: room, ...(signal === undefined ? {} : { signal }) };
    const { kind, entries, bytes: read, stopped } = await readSitemap(bytes, limits);
    room -= read;
    if (stopped !== undefined) note(at, sitemapStops[stopped]);
    if (kind === 'index' && depth >= maxIndexDepth) {
      note(at, 'The indexes of sitemaps are nested too deeply.');
      continue;
    }
    for (const loc of entries) {
      await yieldTurn();
      reasonOf(signal);
      const { url } = canonicalUrl(loc, at);
      if (url === undefined) continue;
      if (kind === 'index') {
        if (seen.has(url) || queue.length > maxFiles) continue;
        seen.add(url);
        queue.push({ url, depth: depth + 1 });
        continue;
      }
      if (known.has(url) || !options.accept(url)) continue;
      if (walk.pages.length >= maxUrls) return walk;
      known.add(url);
      if (options.allowed(url)) walk.pages.push(url);
      else if ((refused += 1) >= maxRefused) {
        note(at, 'The sitemaps list very many pages that robots.txt forbids; the rest was not read.');
        return walk;
      }
    }
  }
  return walk;
}
