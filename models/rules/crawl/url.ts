/**
 * Canonical addresses of pages, the scope of a crawl, and which addresses cannot be pages. Pure: only the text of an
 * address is examined. Whether a host may be contacted is checked when a connection is made.
 */

/**
 * The maximum length of a canonical address that is crawled, in characters. Longer addresses nearly always come from a
 * loop of links, each of which makes the address longer.
 */
export const maxUrlLength = 2_048;
/**
 * An address with more characters than this is not parsed. This bounds the work, because canonicalization makes an
 * address at most nine times as long.
 */
const maxRawLength = 16_384;
/** The maximum length of a host name, in characters (RFC 1035). */
const maxHostLength = 253;
/**
 * The maximum length of a host with its port as written, where each escape counts as one character. Longer hosts are
 * not parsed, because parsing a host with non-ASCII characters takes quadratic time.
 */
const maxRawHostLength = 300;

/** Why an address cannot be the address of a page. The sentences are in `crawlReasons` (crawlreason.ts). */
export type UrlReason = 'bad_url' | 'bad_scheme' | 'credentials' | 'url_too_long';
export type Canonical = { url: string; reason?: undefined } | { url?: undefined; reason: UrlReason };

/** Names of tracking parameters in lower case, from the documentation of the tools that add them. */
const trackingParameters: ReadonlySet<string> = new Set(
  [
    // Ad clicks: Google, Microsoft, Meta, TikTok, LinkedIn, X, Yandex, Pinterest, Snapchat, Reddit.
    'gclid gclsrc dclid gbraid wbraid gad_source gad_campaignid srsltid _gl _ga msclkid fbclid igshid igsh',
    'ttclid li_fat_id twclid yclid ysclid _openstat epik sccid rdt_cid',
    // Newsletters and campaigns: Mailchimp, HubSpot, Marketo, Vero, Omeda, Klaviyo, Drip, Adobe, Matomo.
    'mc_cid mc_eid _hsenc _hsmi __hssc __hstc __hsfp hsctatracking mkt_tok vero_id vero_conv oly_anon_id oly_enc_id',
    '_ke _kx __s s_cid mtm_source mtm_medium mtm_campaign mtm_keyword pk_source pk_medium pk_campaign pk_keyword',
  ].flatMap((names) => names.split(' ')),
);

/** Parameters that always hold a session id, in lower case. */
const sessionParameter = /^(?:jsessionid|phpsessid|aspsessionid[a-z]*|asp\.net_sessionid|cfid|cftoken|zenid|oscsid)$/;
/**
 * Parameters that often hold a session id. They are removed only when the value looks like a session id, because
 * `sid=42` may well name an article.
 */
const maybeSessionParameter = /^(?:sid|sessid|sessionid|session_id)$/;
const sessionValue = /^(?=.*\d)[\w.,~-]{16,}$/;

/**
 * Whether a parameter concerns the visit and not the page. `ref` is kept, because in documentation it names a branch or
 * a version: removing it could merge two pages, which is worse than reading one page twice.
 */
function isNoise(parameter: string): boolean {
  const equals = parameter.indexOf('=');
  const name = (equals < 0 ? parameter : parameter.slice(0, equals)).toLowerCase();
  if (name.startsWith('utm_') || trackingParameters.has(name) || sessionParameter.test(name)) return true;
  return maybeSessionParameter.test(name) && equals >= 0 && sessionValue.test(parameter.slice(equals + 1));
}

const unreserved = /[\w.~-]/;

/**
 * Normalizes escapes by RFC 3986, 6.2.2: escaped unreserved characters are decoded, and other escapes get upper-case
 * digits. A `%` that begins no escape becomes `%25`; otherwise `%%34%31` would become `%41`, which a second pass would
 * decode again.
 */
function normalizeEscapes(text: string): string {
  if (!text.includes('%')) return text;
  return text.replaceAll(/%([0-9a-f]{2})?/gi, (escape, hex: string | undefined) => {
    if (hex === undefined) return '%25';
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return unreserved.test(character) ? character : escape.toUpperCase();
  });
}

/**
 * Normalizes a path: merges repeated slashes, and removes session ids in `;jsessionid=…` and in ASP.NET's `(S(…))`
 * segment.
 */
function normalizePath(path: string): string {
  const plain = normalizeEscapes(path)
    .replaceAll(/;(?:jsessionid|phpsessid|sid)=[^/;]*/gi, '')
    .replaceAll(/\/\(S\([a-z0-9]{20,32}\)\)(?=\/|$)/gi, '')
    .replaceAll(/\/{2,}/g, '/');
  // Removing a session id may leave a dot segment, as in `/.;jsessionid=1/`, which must be resolved.
  return /\/\.{1,2}(?:\/|$)/.test(plain) ? new URL(plain, 'http://host').pathname : plain || '/';
}

/**
 * The query without tracking and session parameters, sorted by name, so that `a=1&b=2` and `b=2&a=1` give the same
 * address. Parameters with the same name keep their order. When a parameter has no `=`, as in `?page_name&action=edit`,
 * the order may matter, so nothing is sorted.
 */
function normalizeQuery(query: string): string {
  const kept = normalizeEscapes(query)
    .split('&')
    .filter((parameter) => parameter !== '' && parameter !== '=' && !isNoise(parameter));
  if (kept.length === 0) return '';
  const nameOf = (parameter: string): string => parameter.slice(0, parameter.indexOf('='));
  if (kept.every((parameter) => parameter.includes('='))) {
    kept.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : nameOf(a) > nameOf(b) ? 1 : 0));
  }
  return `?${kept.join('&')}`;
}

/** Whether the host in an address as written is too long to be valid, so that the address is not parsed. */
export function namesLongHost(href: string): boolean {
  const [, host = ''] = /^(?:https?:[/\\]*|[/\\]{2,})([^/\\?#]*)/i.exec(href) ?? [];
  return host.length > maxRawHostLength && host.replaceAll(/%[0-9a-f]{2}/gi, '%').length > maxRawHostLength;
}

/**
 * An address without the characters that URL parsers ignore: surrounding blanks and control characters, and inner tabs
 * and line breaks.
 */
const bareAddress = (href: string): string =>
  href
    .replaceAll(/[\t\n\r]/g, '')
    .replace(/^[^!-\uffff]+/, '')
    .trim();

/**
 * The canonical, absolute address of a page; `href` may be relative to `base`. Canonicalizing is idempotent.
 *
 * The host is in lower case and punycode, without a trailing dot. There is no default port, fragment, dot segment or
 * repeated slash. Escapes are normalized, tracking and session parameters are removed, and the other parameters are
 * sorted.
 *
 * The case of the path, a trailing slash, `index.html`, `www.` and the scheme stay unchanged. `pageKey` removes `www.`
 * and the scheme. `index.html` is kept because some servers refuse `/`; on a site with both addresses, the canonical
 * link or the content hash shows that they are one page.
 */
export function canonicalUrl(href: string, base?: string): Canonical {
  const trimmed = bareAddress(href);
  if (/^(?!https?:)[a-z][a-z0-9+.-]*:/i.test(trimmed)) return { reason: 'bad_scheme' };
  if (trimmed.length > maxRawLength) return { reason: 'url_too_long' };
  if (namesLongHost(trimmed)) return { reason: 'bad_url' };
  const parsed = URL.parse(trimmed.toWellFormed(), base);
  if (parsed === null) return { reason: 'bad_url' };
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') return { reason: 'bad_scheme' };
  if (parsed.username !== '' || parsed.password !== '') return { reason: 'credentials' };
  if (parsed.hostname.includes('..')) return { reason: 'bad_url' };
  const hostname = parsed.hostname.endsWith('.') ? parsed.hostname.slice(0, -1) : parsed.hostname;
  if (hostname === '' || hostname.length > maxHostLength) return { reason: 'bad_url' };
  const host = parsed.port === '' ? hostname : `${hostname}:${parsed.port}`;
  const url = `${parsed.protocol}//${host}${normalizePath(parsed.pathname)}${normalizeQuery(parsed.search.slice(1))}`;
  return url.length > maxUrlLength ? { reason: 'url_too_long' } : { url };
}

/** The parts of a canonical address; null for an address that is not canonical. */
function partsOf(url: string): { site: string; path: string; query: string } | null {
  // No part can contain the character that begins the next part, so the expression takes linear time.
  const match = /^https?:\/\/(?:www\.)?([^/?#]+)(\/[^?#]*)?(?:\?([^#]*))?$/.exec(url);
  return match === null ? null : { site: match[1] ?? '', path: match[2] ?? '', query: match[3] ?? '' };
}

/** The path segments of a canonical address, without empty ones. */
export function segmentsOf(url: string): string[] {
  return (partsOf(url)?.path ?? '').split('/').filter((segment) => segment !== '');
}

/** The query parameters of a canonical address, each as `name=value` as written. */
export function parametersOf(url: string): string[] {
  return (partsOf(url)?.query ?? '').split('&').filter((parameter) => parameter !== '');
}

/**
 * The key that identifies a page in a crawl: the canonical address without scheme and `www.`. So a redirect from http
 * to https, or to `www.`, leads to the same page and not to a duplicate. Requests use the whole address.
 */
export function pageKey(url: string): string {
  return url.replace(/^https?:\/\/(?:www\.)?/, '');
}

/** All addresses that have the same `pageKey` as `url`. */
export function spellingsOf(url: string): string[] {
  const key = pageKey(url);
  const all = ['https://', 'http://', 'https://www.', 'http://www.'].map((start) => start + key);
  return all.filter((one) => pageKey(one) === key);
}

/** The part of a site that a crawl may read. `site` is host and port without `www.`; `prefix` begins with a slash. */
export type Scope = { site: string; prefix: string };

/** Extensions of pages. A crawl that starts at such a file may read the folder of the file. */
const pageEnding = /\.(?:html?|xhtml|shtml|php\d?|aspx?|jspx?|jsf|do|cgi|pl|cfm|md|txt)$/i;

/**
 * The scope of a crawl from its canonical start: the same host and port, and paths below the path of the start. The
 * scope includes addresses with and without `www.`, over http and https. `/help`, `/help/` and `/help/index.html` all
 * mean the page `/help` and the pages below it, but not `/helpdesk`.
 */
export function scopeOf(startUrl: string): Scope {
  const { site, path } = partsOf(startUrl) ?? { site: '', path: '/' };
  return { site, prefix: pageEnding.test(path) ? path.slice(0, path.lastIndexOf('/') + 1) : path };
}

/**
 * Whether a canonical address is in the scope. Every link, sitemap entry and redirect target is checked. `/help` is in
 * the scope `/help/`, because many servers redirect one to the other.
 */
export function inScope(scope: Scope, url: string): boolean {
  const parts = partsOf(url);
  if (parts === null || parts.site !== scope.site) return false;
  const folder = scope.prefix.endsWith('/') ? scope.prefix : `${scope.prefix}/`;
  return parts.path.startsWith(folder) || `${parts.path}/` === folder;
}

/**
 * Extensions of files that are not pages. Extensions that also occur in page names (`Node.js`, `models.ai`, `site.map`)
 * are left out on purpose: such files are seldom linked, and their content type shows that they are not pages.
 */
const fileEndings: ReadonlySet<string> = new Set(
  [
    'png jpg jpeg jpe gif webp avif svg ico bmp tif tiff heic heif psd eps',
    'mp3 m4a aac ogg oga opus wav flac wma mp4 m4v mov avi mkv webm wmv flv mpg mpeg 3gp ogv m3u8',
    'zip gz tgz bz2 xz zst 7z rar tar jar war apk ipa dmg pkg msi exe deb rpm iso cab',
    'pdf doc docx dot docm xls xlsx xlsm xlsb ppt pptx pps ppsx odt ods odp rtf epub mobi csv tsv',
    'css scss mjs wasm woff woff2 ttf otf eot swf rss atom xml kml gpx ics vcf torrent sql db sqlite',
  ].flatMap((endings) => endings.split(' ')),
);

/**
 * Whether the path ends with the extension of a file that is not a page, so that the address is not fetched. A path
 * that ends with `/` is a folder and has no extension.
 */
export function isFileUrl(url: string): boolean {
  if (partsOf(url)?.path.endsWith('/')) return false;
  const ending = /\.([a-z0-9]{1,6})$/i.exec(segmentsOf(url).at(-1) ?? '')?.[1];
  return ending !== undefined && fileEndings.has(ending.toLowerCase());
}
