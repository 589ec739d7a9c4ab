/**
 * Walks through the sitemaps of a site, including indexes. The caller passes the fetch function, so that its HTTP
 * client checks every URL.
 */
import { maxSitemapBytes, readSitemap, type Sitemap } from './sitemap.ts';
import { sitemapStops } from './sitemapreader.ts';
import { createYielder } from '../../base/yielding.ts';
import { canonicalUrl } from '../../../models/rules/crawl/url.ts';
import { defined } from '../../../models/rules/base/defined.ts';

/**
 * The bytes of a sitemap; none when the file does not exist. `problem`: why the file could not be fetched, for people.
 */
export type SitemapFile = { bytes?: Uint8Array | undefined; problem?: string };

export type WalkOptions = {
  /** The absolute URLs of the first sitemaps: those in robots.txt, or `/sitemap.xml`. */
  starts: readonly string[];
  /** Fetches a sitemap. It should refuse URLs outside the crawl's scope. */
  fetch(url: string): Promise<SitemapFile>;
  /** Whether a page, given by its canonical URL, is wanted. Unwanted pages do not count towards `maxUrls`. */
  accept(url: string): boolean;
  /** Whether robots.txt allows fetching a wanted page. */
  allowed(url: string): boolean;
  /** Maximum number of pages from all sitemaps. */
  maxUrls: number;
  /**
   * Maximum number of wanted pages that robots.txt forbids; 10,000 by default. Checking one page against a malicious
   * robots.txt can take a millisecond.
   */
  maxRefused?: number;
  /** Maximum number of sitemaps to fetch, including indexes; 50 by default. */
  maxFiles?: number;
  /**
   * Maximum number of decoded bytes of all sitemaps; 200 MiB by default. Hostile XML costs a second of processor time
   * for about 10 MiB.
   */
  maxTotalBytes?: number;
  /** Whether the walk has taken too long, so that no further file is fetched. */
  isLate?(): boolean;
  signal?: AbortSignal;
};

export type Walk = {
  /** Unique canonical URLs, in the order of the sitemaps. */
  pages: string[];
  files: number;
  /** The files and parts that were not read, with the reason for people. */
  problems: { url: string; reason: string }[];
};

/** Maximum depth of nested indexes. The protocol allows one level; some sites use two. */
const maxIndexDepth = 2;

type File = { url: string; depth: number };
type State = {
  walk: Walk;
  /** The files still to read, and the URLs of all files that were ever queued. */
  queue: File[];
  queued: Set<string>;
  /** The canonical URLs of the pages found so far. */
  met: Set<string>;
  refused: number;
  /** The number of decoded bytes that may still be read. */
  room: number;
  yieldTurn: ReturnType<typeof createYielder>;
};

/**
 * The pages of a site's sitemaps. Indexes are followed two levels deep and each file is read once. Throws what `fetch`
 * throws, and the signal's reason.
 */
export async function walkSitemaps(options: WalkOptions): Promise<Walk> {
  const { starts, maxFiles = 50, isLate = () => false, signal } = options;
  const state: State = {
    walk: { pages: [], files: 0, problems: [] },
    queue: starts.map((url) => ({ url, depth: 0 })),
    queued: new Set(starts),
    met: new Set(),
    refused: 0,
    room: options.maxTotalBytes ?? 4 * maxSitemapBytes,
    yieldTurn: createYielder(),
  };
  const { walk, queue } = state;
  for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
    signal?.throwIfAborted();
    if (walk.files >= maxFiles || state.room <= 0 || (walk.files > 0 && isLate())) {
      const reason =
        'The sitemaps together are too many, too large or too slow; this one and later ones were not read.';
      walk.problems.push({ url: file.url, reason });
      break;
    }
    walk.files += 1;
    if ((await readFile(state, file, options)) === 'enough') break;
  }
  return walk;
}

/** Reads one file and adds its pages and sitemaps. `enough`: no further file needs to be read. */
async function readFile(state: State, { url: at, depth }: File, options: WalkOptions): Promise<'enough' | undefined> {
  const note = (reason: string): void => void state.walk.problems.push({ url: at, reason });
  const { signal } = options;
  const { bytes, problem } = await options.fetch(at);
  if (problem !== undefined) note(problem);
  if (bytes === undefined) return undefined;
  const sitemap = await readSitemap(bytes, { maxBytes: state.room, ...defined({ signal }) });
  state.room -= sitemap.bytes;
  if (sitemap.stopped !== undefined) note(sitemapStops[sitemap.stopped]);
  if (sitemap.kind !== 'index') return takePages(state, at, sitemap, options, note);
  if (depth >= maxIndexDepth) note('The indexes of sitemaps are nested too deeply.');
  else await queueFiles(state, { url: at, depth }, sitemap, options);
  return undefined;
}

/** Adds the sitemaps of an index to the queue. */
async function queueFiles(state: State, { url: at, depth }: File, { entries }: Sitemap, options: WalkOptions) {
  const { maxFiles = 50, signal } = options;
  for (const loc of entries) {
    await state.yieldTurn();
    signal?.throwIfAborted();
    const { url } = canonicalUrl(loc, at);
    if (url === undefined || state.queued.has(url) || state.queue.length > maxFiles) continue;
    state.queued.add(url);
    state.queue.push({ url, depth: depth + 1 });
  }
}

/** Adds the wanted pages of a file, without duplicates. */
async function takePages(
  state: State,
  at: string,
  { entries }: Sitemap,
  options: WalkOptions,
  note: (reason: string) => void,
): Promise<'enough' | undefined> {
  const { maxUrls, maxRefused = 10_000, signal } = options;
  const { walk, met } = state;
  for (const loc of entries) {
    await state.yieldTurn();
    signal?.throwIfAborted();
    const { url } = canonicalUrl(loc, at);
    if (url === undefined || met.has(url) || !options.accept(url)) continue;
    if (walk.pages.length >= maxUrls) return 'enough';
    met.add(url);
    if (options.allowed(url)) walk.pages.push(url);
    else if ((state.refused += 1) >= maxRefused) {
      note('The sitemaps list very many pages that robots.txt forbids; the rest was not read.');
      return 'enough';
    }
  }
  return undefined;
}
