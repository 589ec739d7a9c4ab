/**
 * Reads the sitemaps of one site within its host's rate limits and within a minute. Parts that could not be read are
 * reported.
 */
import type { SiteProblem } from './fetched.ts';
import { Later, type Hosts } from './hosts.ts';
import { noteReply } from './request.ts';
import { sitemapStops } from './sitemapreader.ts';
import { walkSitemaps, type SitemapFile } from './sitemapwalk.ts';
import type { Http, HttpResponse } from '../../http/http.ts';
import { HttpError } from '../../../models/rules/base/http.ts';
import { crawlDelay, maxCrawlDelaySeconds } from '../../../models/rules/crawl/crawl.ts';
import { explain } from '../../../models/rules/crawl/crawlreason.ts';
import { maxUnasked } from '../../../models/rules/crawl/frontier.ts';
import type { Robots } from '../../../models/rules/crawl/robots.ts';
import { inScope, isFileUrl, type Scope } from '../../../models/rules/crawl/url.ts';

const maxSitemapFileBytes = 10 * 1024 * 1024;
/**
 * After this time, in ms, no further sitemap is requested, so that a slow site or a long crawl delay does not hold up
 * other sites.
 */
const maxSitemapsMs = 60_000;

type Deps = { http: Http; hosts: Hosts; clock: () => Date };
type SitemapsOf = { origin: string; scope: Scope; robots: Robots; limit: number; signal: AbortSignal };

/** All URLs are canonical and within the crawl's scope. */
export type SitemapPages = {
  /** The pages to fetch, at most `limit`. */
  urls: string[];
  /** Samples of URLs that look like files (`files`) and of URLs that robots.txt forbids, at most `maxUnasked` each. */
  files: string[];
  forbidden: string[];
  /** The parts of the sitemaps that were not read, with the reason. */
  problems: SiteProblem[];
};

/** Adds a URL to `list` if `list` has fewer than `maxUnasked` URLs. */
function keepSome(list: Set<string>, url: string): void {
  if (list.size < maxUnasked) list.add(url);
}

export async function listSitemapPages(deps: Deps, site: SitemapsOf): Promise<SitemapPages> {
  const { origin, scope, robots, limit, signal } = site;
  const named = robots.sitemaps.length > 0;
  const starts = named ? robots.sitemaps : ['/sitemap.xml'];
  const [files, forbidden] = [new Set<string>(), new Set<string>()];
  const end = deps.clock().getTime() + maxSitemapsMs;
  const walk = await walkSitemaps({
    starts: starts.flatMap((start) => URL.parse(start, origin)?.href ?? []),
    maxUrls: limit,
    signal,
    accept(url) {
      if (!inScope(scope, url)) return false;
      if (!isFileUrl(url)) return true;
      keepSome(files, url);
      return false;
    },
    allowed(url) {
      const allowed = robots.allowed(url);
      if (!allowed) keepSome(forbidden, url);
      return allowed;
    },
    isLate: () => deps.clock().getTime() > end,
    fetch: (url) => fetchSitemap(deps, url, signal),
  });
  // Many sites answer any URL with a page. Such a reply is reported only if robots.txt named the sitemap.
  const problems = walk.problems.filter(({ reason }) => named || reason !== sitemapStops.unknown);
  return {
    urls: walk.pages,
    files: [...files],
    forbidden: [...forbidden],
    problems: [...pauseProblem(origin, robots), ...problems],
  };
}

async function fetchSitemap({ http, hosts, clock }: Deps, url: string, signal: AbortSignal): Promise<SitemapFile> {
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

async function request(http: Http, url: string, signal: AbortSignal): Promise<HttpResponse | HttpError> {
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
