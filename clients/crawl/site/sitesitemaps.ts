/**
 * Reads the sitemaps of one site, including the sitemaps that an index names, within its host's rate limits and within
 * a minute. Parts that could not be read are reported.
 */
import type { SiteProblem } from './fetched.ts';
import { Later, type Hosts } from './hosts.ts';
import { noteReply } from './request.ts';
import { maxSitemapBytes, readSitemap } from './sitemap.ts';
import { sitemapStops } from './sitemapreader.ts';
import { createYielder } from '../../base/yielding.ts';
import type { Http, HttpResponse } from '../../http/http.ts';
import { HttpError } from '../../../models/rules/base/http.ts';
import { crawlDelay, maxCrawlDelaySeconds } from '../../../models/rules/crawl/crawl.ts';
import { explain } from '../../../models/rules/crawl/crawlreason.ts';
import { maxUnasked } from '../../../models/rules/crawl/frontier.ts';
import type { Robots } from '../../../models/rules/crawl/robots.ts';
import { canonicalUrl, inScope, isFileUrl, type Scope } from '../../../models/rules/crawl/url.ts';

const maxSitemapFileBytes = 10 * 1024 * 1024;
/**
 * After this time, in ms, no further sitemap is requested, so that a slow site or a long crawl delay does not hold up
 * other sites.
 */
const maxSitemapsMs = 60_000;
/** Maximum number of sitemaps to request, including indexes. */
const maxSitemaps = 50;
/** Maximum depth of nested indexes. The protocol allows one level; some sites use two. */
const maxIndexDepth = 2;
/** Maximum number of decoded bytes of all sitemaps. Hostile XML costs a second of processor time for about 10 MiB. */
const maxTotalBytes = 4 * maxSitemapBytes;
/**
 * Maximum number of wanted pages that robots.txt forbids. Checking one page against a malicious robots.txt can take
 * milliseconds.
 */
const maxForbidden = 10_000;

type Deps = { http: Pick<Http, 'follow'>; hosts: Hosts; clock: () => Date };
type SitemapsOf = { origin: string; scope: Scope; robots: Robots; limit: number; signal: AbortSignal };
/** A sitemap to read. `depth`: the number of indexes that lead to it. */
type Queued = { url: string; depth: number };

/** All URLs are canonical and within the crawl's scope. */
export type SitemapPages = {
  /** The pages to fetch, each once, in the order of the sitemaps; at most `limit`. */
  urls: string[];
  /** Samples of URLs that look like files (`files`) and of URLs that robots.txt forbids, at most `maxUnasked` each. */
  files: string[];
  forbidden: string[];
  /** The parts of the sitemaps that were not read, with the reason. */
  problems: SiteProblem[];
};

function keepSome(list: Set<string>, url: string): void {
  if (list.size < maxUnasked) list.add(url);
}

/** Follows indexes two levels deep and reads each sitemap once. Throws only the signal's reason. */
export async function listSitemapPages(deps: Deps, site: SitemapsOf): Promise<SitemapPages> {
  const { origin, scope, robots, limit, signal } = site;
  const named = robots.sitemaps.length > 0;
  const starts = (named ? robots.sitemaps : ['/sitemap.xml']).flatMap((start) => URL.parse(start, origin)?.href ?? []);
  const end = deps.clock().getTime() + maxSitemapsMs;
  /** `queue`: the sitemaps still to read. `queued`: the URLs of all sitemaps that were ever in the queue. */
  const queue: Queued[] = starts.map((url) => ({ url, depth: 0 }));
  const queued = new Set(starts);
  /** `met`: all wanted pages so far, including those that robots.txt forbids. `urls`: the pages that it allows. */
  const met = new Set<string>();
  const urls: string[] = [];
  const [files, forbidden] = [new Set<string>(), new Set<string>()];
  const problems = pauseProblem(origin, robots);
  /** The number of decoded bytes that may still be read. */
  let room = maxTotalBytes;
  const yieldTurn = createYielder();

  for (let read = 0, next = queue.shift(); next !== undefined; read += 1, next = queue.shift()) {
    signal.throwIfAborted();
    if (read >= maxSitemaps || room <= 0 || (read > 0 && deps.clock().getTime() > end)) {
      note(next, 'The sitemaps together are too many, too large or too slow; this one and later ones were not read.');
      break;
    }
    if ((await readNext(next)) === 'enough') break;
  }
  return { urls, files: [...files], forbidden: [...forbidden], problems };

  function note({ url }: Queued, reason: string): void {
    problems.push({ url, reason });
  }

  /** Reads one sitemap and adds its pages and sitemaps. `enough`: no further sitemap needs to be read. */
  async function readNext(next: Queued): Promise<'enough' | undefined> {
    const { bytes, problem } = await fetchSitemap(deps, next.url, signal);
    if (problem !== undefined) note(next, problem);
    if (bytes === undefined) return undefined;
    const sitemap = await readSitemap(bytes, { maxBytes: room, signal });
    room -= sitemap.bytes;
    const { stopped } = sitemap;
    // Many sites answer any URL with an HTML page, which is no sitemap. Such a reply is reported as a problem only if
    // robots.txt named a sitemap.
    if (stopped !== undefined && (named || stopped !== 'unknown')) note(next, sitemapStops[stopped]);
    const isIndex = sitemap.kind === 'index';
    if (isIndex && next.depth >= maxIndexDepth) {
      note(next, 'The indexes of sitemaps are nested too deeply.');
      return undefined;
    }
    for (const loc of sitemap.entries) {
      await yieldTurn();
      signal.throwIfAborted();
      const { url } = canonicalUrl(loc, next.url);
      if (url === undefined) continue;
      if (isIndex) addSitemap({ url, depth: next.depth + 1 });
      else if (addPage(url, next) === 'enough') return 'enough';
    }
    return undefined;
  }

  function addSitemap(sitemap: Queued): void {
    if (queued.has(sitemap.url) || queue.length > maxSitemaps) return;
    queued.add(sitemap.url);
    queue.push(sitemap);
  }

  /** Adds a page of the sitemap `from` unless it was added before. `enough`: no further page needs to be read. */
  function addPage(url: string, from: Queued): 'enough' | undefined {
    if (met.has(url) || !inScope(scope, url)) return undefined;
    if (isFileUrl(url)) {
      keepSome(files, url);
      return undefined;
    }
    if (urls.length >= limit) return 'enough';
    met.add(url);
    if (robots.allowed(url)) {
      urls.push(url);
      return undefined;
    }
    keepSome(forbidden, url);
    if (met.size - urls.length < maxForbidden) return undefined;
    note(from, 'The sitemaps list very many pages that robots.txt forbids; the rest was not read.');
    return 'enough';
  }
}

/** A sitemap's bytes; none when the file does not exist. `problem`: why it could not be fetched, for people. */
type Reply = { bytes?: Uint8Array; problem?: string };

async function fetchSitemap({ http, hosts, clock }: Deps, url: string, signal: AbortSignal): Promise<Reply> {
  const host = hosts.of(url);
  const send = async () => {
    const reply = await request(http, url, signal);
    if (!(reply instanceof HttpError)) noteReply(host, url, reply, clock());
    return reply;
  };
  const reply = await host.inTurn(send, signal, maxSitemapsMs);
  if (reply instanceof Later) return { problem: explain('wait_too_long') };
  if (reply instanceof HttpError) return { problem: `The sitemap could not be had. ${reply.message}` };
  if (reply.status === 200) return { bytes: reply.body };
  const missing = reply.status === 404 || reply.status === 410;
  return missing ? {} : { problem: `The sitemap could not be had (${reply.status}).` };
}

async function request(http: Deps['http'], url: string, signal: AbortSignal): Promise<HttpResponse | HttpError> {
  try {
    return await http.follow(url, { signal, maxBytes: maxSitemapFileBytes, maxRedirects: 3 });
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    signal.throwIfAborted();
    return error;
  }
}

/** Reports that the site asks for a longer crawl delay than the crawl observes. */
function pauseProblem(origin: string, { crawlDelay: asked }: Robots): SiteProblem[] {
  if (!crawlDelay(asked).capped) return [];
  const reason = `The site asks for ${asked} seconds between two requests; a crawl waits ${maxCrawlDelaySeconds}.`;
  return [{ url: `${origin}/robots.txt`, reason }];
}
