/**
 * Goes through the sitemaps of a site, including indexes. It never fetches by itself: the caller passes a fetch
 * function, so that every address goes through the guarded HTTP client.
 */
import { maxSitemapBytes, readSitemap, type Sitemap } from './sitemap.ts';
import { sitemapStops } from './sitemapreader.ts';
import { createYielder } from '../../base/yielding.ts';
import { canonicalUrl } from '../../../models/rules/crawl/url.ts';

/** The bytes of a sitemap, none when the site has no such file, or why it could not be fetched, for a person. */
export type SitemapFile = { bytes?: Uint8Array | undefined; problem?: string };

export type WalkOptions = {
  /** The absolute addresses of the sitemaps to begin with: those in robots.txt, or `/sitemap.xml`. */
  starts: readonly string[];
  /** Should refuse what is out of scope. */
  fetch(url: string): Promise<SitemapFile>;
  /** Whether a page (its canonical address) is wanted; unwanted pages do not count. */
  accept(url: string): boolean;
  /** Whether a wanted page may be fetched. */
  allowed(url: string): boolean;
  /** The maximum number of pages in all sitemaps. */
  maxUrls: number;
  /**
   * The maximum number of wanted pages that may not be fetched; 10,000 by default. Rules that are made to be slow cost
   * a millisecond per page.
   */
  maxRefused?: number;
  /** The maximum number of fetched sitemaps, including indexes; 50 by default. */
  maxFiles?: number;
  /** Decoded bytes of all sitemaps, 200 MiB by default: hostile XML costs a second of a core for some 10 MiB. */
  maxTotalBytes?: number;
  /** Whether it has taken so long that no further file is to be fetched. */
  isLate?(): boolean;
  signal?: AbortSignal;
};

export type Walk = {
  /** Canonical addresses, unique, in the order of the sitemaps. */
  pages: string[];
  files: number;
  /** The files and parts that were not read, and why, for a person. */
  problems: { url: string; reason: string }[];
};

/** How deep indexes may name indexes; the protocol allows one level, some sites use two. */
const maxIndexDepth = 2;

type File = { url: string; depth: number };
type State = {
  walk: Walk;
  /** The files to read, and the addresses of all files that were ever in the queue. */
  queue: File[];
  queued: Set<string>;
  /** The canonical addresses of the pages that were found. */
  met: Set<string>;
  refused: number;
  /** How many more decoded bytes may be read. */
  room: number;
  yieldTurn: ReturnType<typeof createYielder>;
};

/**
 * The pages of a site's sitemaps: indexes are followed two levels deep, each file is read once, and everything is
 * bounded. Throws what `fetch` throws, and the signal's reason.
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

/** Reads one file and adds its pages and its sitemaps. `enough`: no further file is to be read. */
async function readFile(state: State, { url: at, depth }: File, options: WalkOptions): Promise<'enough' | undefined> {
  const note = (reason: string): void => void state.walk.problems.push({ url: at, reason });
  const { signal } = options;
  const { bytes, problem } = await options.fetch(at);
  if (problem !== undefined) note(problem);
  if (bytes === undefined) return undefined;
  const sitemap = await readSitemap(bytes, { maxBytes: state.room, ...(signal === undefined ? {} : { signal }) });
  state.room -= sitemap.bytes;
  if (sitemap.stopped !== undefined) note(sitemapStops[sitemap.stopped]);
  if (sitemap.kind !== 'index') return takePages(state, at, sitemap, options, note);
  if (depth >= maxIndexDepth) note('The indexes of sitemaps are nested too deeply.');
  else await queueFiles(state, { url: at, depth }, sitemap, options);
  return undefined;
}

/** Adds the sitemaps that an index names to the queue. */
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

/** Adds the wanted pages that a file names, each once. */
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
