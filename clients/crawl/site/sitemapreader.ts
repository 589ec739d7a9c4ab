/** Incremental parsers for the two forms of a sitemap, plain text and XML. Each passes on the URLs that it finds. */
import { SaxesParser } from 'saxes';
import { maxUrlLength } from '../../../models/rules/crawl/url.ts';

/**
 * `urlset` and `text` list pages, `index` lists sitemaps. `unknown` is something else, such as an HTML page or a feed.
 */
export type SitemapKind = 'urlset' | 'index' | 'text' | 'unknown';

/** Reasons why the rest of a file was not read. */
export const sitemapStops = {
  broken: 'The sitemap is broken; only what stands before the break was read.',
  too_large: 'The sitemap is larger than 50 MiB; the rest was not read.',
  too_many: 'The sitemap names more addresses than are read; the rest was not.',
  unknown: 'The file is no sitemap.',
} as const;
export type SitemapStop = keyof typeof sitemapStops;

/** The parser gets at most this many bytes at once, so that other work can run in between. */
export const pieceBytes = 64 * 1024;
/** Maximum bytes between two tags. Longer texts, comments or attributes do not belong in a sitemap. */
const maxBetweenTags = 1024 * 1024;
/** Maximum nesting of elements. A sitemap with all known extensions has five levels. */
const maxNesting = 32;

export type Reader = {
  write(text: string): void;
  close(): void;
  kind: SitemapKind;
  stopped: SitemapStop | undefined;
};

/** Reads one URL per line. The caller refuses lines that are no URLs. */
export function textReader(add: (loc: string) => boolean): Reader {
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
/**
 * The length of the longest character reference, `&#1114111;`, minus one. An `&` this close to the end of a piece is
 * examined together with the next piece.
 */
const referenceTail = 9;

/**
 * Replaces an `&` that begins no XML reference with `&amp;`, piece by piece. Otherwise the parser would read everything
 * up to the next semicolon as an entity's name.
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

/** Maps the root element's local name to the kind of the file and the element of an entry. */
const roots: Readonly<Record<string, { kind: SitemapKind; entry: string }>> = {
  urlset: { kind: 'urlset', entry: 'url' },
  sitemapindex: { kind: 'index', entry: 'sitemap' },
};
const localName = (name: string): string => name.slice(name.indexOf(':') + 1).toLowerCase();

/**
 * The URLs of an XML sitemap: `loc` directly below an entry directly below the root, with any namespace prefix. So the
 * `loc` of an image or a video does not count. The parser knows only XML's predefined entities and fetches no DTD, so
 * no entity can expand to a large text. Bare ampersands, the most common mistake, are repaired first; any other error
 * ends the parsing.
 */
export function xmlReader(add: (loc: string) => boolean): Reader {
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
    // The kept text is bounded, so that an endless text does not fill the memory. A text that exceeds the maximum
    // length of a URL is refused later.
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
  // In CDATA an ampersand needs no escape, so the repair is undone.
  parser.on('cdata', (more) => keep(more.replaceAll('&amp;', '&')));
  // An error before the first element usually means that the file is an HTML page, not a sitemap.
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
