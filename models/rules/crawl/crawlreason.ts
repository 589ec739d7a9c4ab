/** Why a page was not indexed: the sentence for members, and whether its previously indexed version is kept. */
import type { HttpReason } from '../base/http.ts';
import type { UrlReason } from './url.ts';

type ReasonRow = {
  /**
   * `skipped`: the site or the rules of the crawl do not allow the page, or it needs no indexing. `failed`: an error,
   * which may be gone at the next crawl.
   */
  kind: 'skipped' | 'failed';
  /** Whether the page is retried within the same crawl, after a wait. */
  retry?: true;
  /**
   * What happens to the version of the page that an earlier crawl indexed. Absent: it is kept, because the reason may
   * be temporary; only a `duplicate` is removed at the end of the crawl, because another page has the same text, unless
   * too many pages are duplicates (`duplicatePages`). `taken`: it is removed, because the site removed the page.
   * `emptied`: it is removed, because the page has no text any more; a crawl with `replace` counts the page as missing
   * instead (`missingPages`), because the lack of text may be an error. `elsewhere`: it is removed once the page that
   * the address leads to is indexed.
   */
  standing?: 'taken' | 'emptied' | 'elsewhere';
  /** The sentence for members. The detail, if there is one, replaces the words in braces. */
  sentence: string;
};

/** Every reason why a page was not indexed. A failed request has the reason code of the HTTP client. */
export const crawlReasons = {
  robots: { kind: 'skipped', sentence: "The site's robots.txt does not allow this page to be fetched." },
  noindex: { kind: 'skipped', standing: 'taken', sentence: 'The page asks not to be indexed (noindex).' },
  out_of_scope: {
    kind: 'skipped',
    sentence: 'The page leads to {an address} outside the part of the site that is crawled.',
  },
  not_html: {
    kind: 'skipped',
    standing: 'emptied',
    sentence: 'The address holds {something other than HTML}, not a page.',
  },
  duplicate: { kind: 'skipped', sentence: 'The page is a duplicate of {another page}.' },
  canonical: {
    kind: 'skipped',
    standing: 'elsewhere',
    sentence: 'The page names {another page} as the one to index in its place.',
  },
  redirect: { kind: 'skipped', sentence: 'The address leads on to {another page}.' },
  moved: { kind: 'skipped', standing: 'elsewhere', sentence: 'The address has moved for good to {another page}.' },
  moved_away: {
    kind: 'skipped',
    standing: 'taken',
    sentence: 'The address has moved for good to {an address} outside the part of the site that is crawled.',
  },
  file: {
    kind: 'skipped',
    sentence: 'The ending of the address is that of a file, not of a page, so it was not fetched.',
  },
  empty: { kind: 'skipped', standing: 'emptied', sentence: 'The page has no text that can be read.' },
  trap: { kind: 'skipped', sentence: 'The address belongs to a seemingly endless series, of which enough was read.' },
  limit: { kind: 'skipped', sentence: 'The crawl came to a limit before this page.' },
  cancelled: { kind: 'skipped', sentence: 'The crawl was cancelled before this page.' },
  bad_url: { kind: 'skipped', sentence: 'The address is not a valid one.' },
  bad_scheme: { kind: 'skipped', sentence: 'The address does not begin with http: or https:.' },
  credentials: { kind: 'skipped', sentence: 'The address contains a user name or a password.' },
  url_too_long: { kind: 'skipped', sentence: 'The address is longer than 2,048 characters.' },
  blocked_address: {
    kind: 'skipped',
    sentence:
      'The address leads into a private network, which may not be crawled unless the operator of this system names the host in EGRESS_ALLOW.',
  },
  not_found: { kind: 'skipped', standing: 'taken', sentence: 'The page does not exist (404).' },
  gone: { kind: 'skipped', standing: 'taken', sentence: 'The page was removed (410).' },
  forbidden: { kind: 'skipped', sentence: 'The site asks for a sign-in or refuses the crawler ({401 or 403}).' },
  withheld: { kind: 'skipped', standing: 'taken', sentence: 'The page may not be shown for legal reasons (451).' },
  refused: { kind: 'skipped', sentence: 'The site refused the request ({4xx}).' },
  too_large: { kind: 'skipped', sentence: 'The page is larger than {the limit}.' },
  too_many_redirects: { kind: 'failed', sentence: 'The page redirects in a circle or too many times.' },
  bad_redirect: { kind: 'failed', sentence: 'The page redirects without saying where to.' },
  rate_limited: { kind: 'failed', retry: true, sentence: 'The site asks for fewer requests (429).' },
  server_error: { kind: 'failed', retry: true, sentence: 'The site answered with an error of its own ({5xx}).' },
  timed_out: { kind: 'failed', retry: true, sentence: 'The site took too long to answer.' },
  no_host: { kind: 'failed', sentence: 'There is no host with the name {in this address}; check its spelling.' },
  dns: { kind: 'failed', retry: true, sentence: "The site's name could not be resolved." },
  connection: { kind: 'failed', retry: true, sentence: 'The connection to the site failed or broke off.' },
  tls: { kind: 'failed', sentence: "The site's certificate or encryption is not valid." },
  protocol: { kind: 'failed', sentence: "The site's answer is not valid HTTP." },
  bad_request: { kind: 'failed', sentence: 'The request for this page could not be sent.' },
  busy: { kind: 'failed', retry: true, sentence: 'Too many sites are being read at the same time.' },
  aborted: { kind: 'failed', retry: true, sentence: 'The request was broken off on our side.' },
  unreadable: { kind: 'failed', sentence: 'The page could not be read: {its HTML is too complex}.' },
  unrendered: {
    kind: 'failed',
    sentence: 'The page has too little text without JavaScript: {it could not be rendered}.',
  },
  robots_unavailable: {
    kind: 'failed',
    retry: true,
    sentence: "The site's robots.txt could not be fetched ({the site failed}), so no page may be.",
  },
  wait_too_long: {
    kind: 'failed',
    sentence: 'The site asks to wait {longer than a crawl waits} before the next request.',
  },
} as const satisfies Record<string, ReasonRow> & Record<UrlReason | HttpReason, ReasonRow>;
export type CrawlReason = keyof typeof crawlReasons;
export const crawlReasonNames = Object.keys(crawlReasons) as CrawlReason[];

export function reasonRow(reason: CrawlReason): ReasonRow {
  return crawlReasons[reason];
}

/** The sentence of a reason; `detail` (an address, a media type, a size, a status) replaces the words in braces. */
export function explain(reason: CrawlReason, detail?: string | number): string {
  return crawlReasons[reason].sentence.replace(/\{(.+?)\}/, (_, instead: string) => String(detail ?? instead));
}

/** The sentence that is added to the reason when the previously indexed version of the page is kept. */
export const stillAnswers = 'What was read there before goes on answering.';

/**
 * Whether a response with this status contains a page. A proxy that changed the page answers with 203 instead of 200.
 */
export const isPageStatus = (status: number): boolean => status === 200 || status === 203;

/**
 * The reason why a response with this status is not indexed; undefined for a page and for an unchanged page (304). Only
 * 204 says that the page has no text. Any other success status may mean a firewall's challenge (202) or a part of the
 * page (206). So the page counts as refused, and its indexed version is kept.
 */
export function reasonOfStatus(status: number): CrawlReason | undefined {
  if (status === 304 || isPageStatus(status)) return undefined;
  if (status === 204) return 'empty';
  if (status === 404) return 'not_found';
  if (status === 410) return 'gone';
  if (status === 401 || status === 403 || status === 407) return 'forbidden';
  if (status === 451) return 'withheld';
  if (status === 408) return 'timed_out';
  if (status === 413) return 'too_large';
  if (status === 429) return 'rate_limited';
  if (status >= 500) return 'server_error';
  return status >= 300 && status < 400 ? 'bad_redirect' : 'refused';
}

/** Whether a media type is read as a page; a response without a media type is read as a page, too. */
export function isHtml(contentType: string | undefined): boolean {
  const type = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return type === '' || type === 'text/html' || type === 'application/xhtml+xml';
}
