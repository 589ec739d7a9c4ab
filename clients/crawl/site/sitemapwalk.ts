/**
 * Walks through the sitemaps of a site, including indexes. The caller passes the fetch function, so that its HTTP
 * client checks every URL.
 */
import { maxSitemapBytes, readSitemap } from './sitemap.ts';
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

/**
 * The pages of a site's sitemaps. Indexes are followed two levels deep and each file is read once. Throws what `fetch`
 * throws, and the signal's reason.
 */
export async function walkSitemaps(options: WalkOptions): Promise<Walk> {
  const { starts, fetch, accept, allowed, maxUrls, maxRefused = 10_000, maxFiles = 50, signal } = options;
  const { isLate = () => false } = options;
  const walk: Walk = { pages: [], files: 0, problems: [] };
  /** The files still to read, and the URLs of all files that were ever queued. */
  const queue: File[] = starts.map((url) => ({ url, depth: 0 }));
  const queued = new Set(starts);
  /** The canonical URLs of the pages found so far. */
  const met = new Set<string>();
  let refused = 0;
  /** The number of decoded bytes that may still be read. */
  let room = options.maxTotalBytes ?? 4 * maxSitemapBytes;
  const yieldTurn = createYielder();

  for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
    signal?.throwIfAborted();
    if (walk.files >= maxFiles || room <= 0 || (walk.files > 0 && isLate())) {
      note(file, 'The sitemaps together are too many, too large or too slow; this one and later ones were not read.');
      break;
    }
    walk.files += 1;
    if ((await readFile(file)) === 'enough') break;
  }
  return walk;

  function note({ url }: File, reason: string): void {
    walk.problems.push({ url, reason });
  }

  /** Reads one file and adds its pages and sitemaps. `enough`: no further file needs to be read. */
  async function readFile(file: File): Promise<'enough' | undefined> {
    const { bytes, problem } = await fetch(file.url);
    if (problem !== undefined) note(file, problem);
    if (bytes === undefined) return undefined;
    const sitemap = await readSitemap(bytes, { maxBytes: room, ...defined({ signal }) });
    room -= sitemap.bytes;
    if (sitemap.stopped !== undefined) note(file, sitemapStops[sitemap.stopped]);
    const isIndex = sitemap.kind === 'index';
    if (isIndex && file.depth >= maxIndexDepth) {
      note(file, 'The indexes of sitemaps are nested too deeply.');
      return undefined;
    }
    for (const loc of sitemap.entries) {
      await yieldTurn();
      signal?.throwIfAborted();
      const { url } = canonicalUrl(loc, file.url);
      if (url === undefined) continue;
      if (isIndex) addFile({ url, depth: file.depth + 1 });
      else if (addPage(url, file) === 'enough') return 'enough';
    }
    return undefined;
  }

  function addFile(file: File): void {
    if (queued.has(file.url) || queue.length > maxFiles) return;
    queued.add(file.url);
    queue.push(file);
  }

  /** Adds a wanted page, once. */
  function addPage(url: string, file: File): 'enough' | undefined {
    if (met.has(url) || !accept(url)) return undefined;
    if (walk.pages.length >= maxUrls) return 'enough';
    met.add(url);
    if (allowed(url)) walk.pages.push(url);
    else if ((refused += 1) >= maxRefused) {
      note(file, 'The sitemaps list very many pages that robots.txt forbids; the rest was not read.');
      return 'enough';
    }
    return undefined;
  }
}
