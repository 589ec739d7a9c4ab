/**
 * The canonical address of a page, which addresses a crawl may read, and which addresses cannot be pages. Pure: it looks only
 * at the text of an address. Whether a host may be connected to is decided where the connection is made.
 */

/** The longest address that is crawled, in characters of its canonical form. Longer ones nearly always come from a loop. */
export const maxUrlLength = 2_048;
/** An address with more characters than this is not parsed. Encoding makes an address at most nine times as long. */
const maxRawLength = 16_384;
/** Characters of a host's name (RFC 1035). */
const maxHostLength = 253;
/**
 * The same for a host with its port as it is written, where each escape counts as one character. Longer ones are not parsed,
 * because parsing a host with non-ASCII characters takes time that grows with the square of its length.
 */
const maxRawHostLength = 300;

/** Why an address cannot be that of a page. These are codes of `crawlReasons` (crawlreason.ts), which has the sentences. */
export type UrlReason = 'bad_url' | 'bad_scheme' | 'credentials' | 'url_too_long';
export type Canonical = { url: string; reason?: undefined } | { url?: undefined; reason: UrlReason };

/** Names of tracking parameters, in lower case, from the documentation of the tools that add them. */
const trackingParameters: ReadonlySet<string> = new Set(
  [
    // Clicks on advertisements: Google, Microsoft, Meta, TikTok, LinkedIn, X, Yandex, Pinterest, Snapchat, Reddit.
    'gclid gclsrc dclid gbraid wbraid gad_source gad_campaignid srsltid _gl _ga msclkid fbclid igshid igsh',
    'ttclid li_fat_id twclid yclid ysclid _openstat epik sccid rdt_cid',
    // Links in newsletters and campaigns: Mailchimp, HubSpot, Marketo, Vero, Omeda, Klaviyo, Drip, Adobe, Matomo.
    'mc_cid mc_eid _hsenc _hsmi __hssc __hstc __hsfp hsctatracking mkt_tok vero_id vero_conv oly_anon_id oly_enc_id',
    '_ke _kx __s s_cid mtm_source mtm_medium mtm_campaign mtm_keyword pk_source pk_medium pk_campaign pk_keyword',
  ].flatMap((names) => names.split(' ')),
);

/** Names of parameters that always hold a session, in lower case. */
const sessionParameter = /^(?:jsessionid|phpsessid|aspsessionid[a-z]*|asp\.net_sessionid|cfid|cftoken|zenid|oscsid)$/;
/** Names that often do. They are dropped when the value looks like a session's; `sid=42` may well name an article. */
const maybeSessionParameter = /^(?:sid|sessid|sessionid|session_id)$/;
const sessionValue = /^(?=.*\d)[\w.,~-]{16,}$/;

/**
 * Whether a parameter is about the visit, not about the page. `ref` is kept: in documentation it names a branch or a version,
 * and to take two pages for one is worse than to read one page twice.
 */
function isNoise(parameter: string): boolean {
  const equals = parameter.indexOf('=');
  const name = (equals < 0 ? parameter : parameter.slice(0, equals)).toLowerCase();
  if (name.startsWith('utm_') || trackingParameters.has(name) || sessionParameter.test(name)) return true;
  return maybeSessionParameter.test(name) && equals >= 0 && sessionValue.test(parameter.slice(equals + 1));
}

const unreserved = /[\w.~-]/;

/**
 * RFC 3986, 6.2.2: escapes of unreserved characters are decoded and all others get upper-case digits. A `%` that begins no
 * escape becomes `%25`; otherwise `%%34%31` would become `%41`, which a second pass would decode again.
 */
function normalizeEscapes(text: string): string {
  if (!text.includes('%')) return text;
  return text.replaceAll(/%([0-9a-f]{2})?/gi, (escape, hex: string | undefined) => {
    if (hex === undefined) return '%25';
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return unreserved.test(character) ? character : escape.toUpperCase();
  });
}

/** Merges repeated slashes, and removes `;jsessionid=…` and ASP.NET's `(S(…))` segment, which hold a session. */
function normalizePath(path: string): string {
  const plain = normalizeEscapes(path)
    .replaceAll(/;(?:jsessionid|phpsessid|sid)=[^/;]*/gi, '')
    .replaceAll(/\/\(S\([a-z0-9]{20,32}\)\)(?=\/|$)/gi, '')
    .replaceAll(/\/{2,}/g, '/');
  // Removing a session may leave a dot segment, as in `/.;jsessionid=1/`, which still has to be resolved.
  return /\/\.{1,2}(?:\/|$)/.test(plain) ? new URL(plain, 'http://host').pathname : plain || '/';
}

/**
 * The query without tracking and session parameters. Parameters are sorted by name (those of one name keep their order), so
 * that links with `a=1&b=2` and `b=2&a=1` lead to one page. If a parameter has no `=`, as in `?page_name&action=edit`, the
 * order may matter, so it stays.
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

/** Whether the host in an address, as written, is longer than a host can be, so that the address is not parsed. */
export function namesLongHost(href: string): boolean {
  const [, host = ''] = /^(?:https?:[/\\]*|[/\\]{2,})([^/\\?#]*)/i.exec(href) ?? [];
  return host.length > maxRawHostLength && host.replaceAll(/%[0-9a-f]{2}/gi, '%').length > maxRawHostLength;
}

/** An address without what a parser ignores: spaces and control characters around it, tabs and line breaks inside. */
const bareAddress = (href: string): string =>
  href
    .replaceAll(/[\t\n\r]/g, '')
    .replace(/^[^!-\uffff]+/, '')
    .trim();

/**
 * The canonical, absolute address of a page; `href` may be relative to `base`. A canonical address is not changed any more.
 *
 * The host is in lower case and punycode without a final dot. There is no default port, no fragment, no dot segment and no
 * repeated slash; escapes are normalised; tracking and session parameters are removed and the others sorted. These stay as
 * they are: the case of the path, a final slash, `index.html` (where `/` is refused, the page could not be read without it;
 * where both exist, the canonical link and the content hash show that they are one page), `www.` and the scheme (see `pageKey`).
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
  // No part can contain the character that begins the next one, so the expression reads an address of any length only once.
  const match = /^https?:\/\/(?:www\.)?([^/?#]+)(\/[^?#]*)?(?:\?([^#]*))?$/.exec(url);
  return match === null ? null : { site: match[1] ?? '', path: match[2] ?? '', query: match[3] ?? '' };
}

/** The segments of a canonical address's path, without empty ones. */
export function segmentsOf(url: string): string[] {
  return (partsOf(url)?.path ?? '').split('/').filter((segment) => segment !== '');
}

/** The parameters of a canonical address, each `name=value` as written. */
export function parametersOf(url: string): string[] {
  return (partsOf(url)?.query ?? '').split('&').filter((parameter) => parameter !== '');
}

/**
 * What identifies a page in a crawl: the canonical address without scheme and `www.`. So a redirect from http to https, or to
 * `www.`, leads to the same page, which is not a duplicate of itself. Requests use the whole address.
 */
export function pageKey(url: string): string {
  return url.replace(/^https?:\/\/(?:www\.)?/, '');
}

/** The addresses that count as the same page as this one. */
export function spellingsOf(url: string): string[] {
  const key = pageKey(url);
  const all = ['https://', 'http://', 'https://www.', 'http://www.'].map((start) => start + key);
  return all.filter((one) => pageKey(one) === key);
}

/** The part of a site a crawl may read. `site` is host and port without `www.`; `prefix` begins with a slash. */
export type Scope = { site: string; prefix: string };

/** File extensions of pages. A crawl that starts at such a file may read the folder that the file is in. */
const pageEnding = /\.(?:html?|xhtml|shtml|php\d?|aspx?|jspx?|jsf|do|cgi|pl|cfm|md|txt)$/i;

/**
 * The scope of a crawl from its canonical start: the same host and port, with or without `www.`, over http or https, and the
 * path of the start. `/help`, `/help/` and `/help/index.html` all mean the page `/help` and the pages below it, but not
 * `/helpdesk`.
 */
export function scopeOf(startUrl: string): Scope {
  const { site, path } = partsOf(startUrl) ?? { site: '', path: '/' };
  return { site, prefix: pageEnding.test(path) ? path.slice(0, path.lastIndexOf('/') + 1) : path };
}

/**
 * Whether a canonical address is in the scope. Every link, every sitemap entry and every hop of a redirect is checked.
 * `/help` is in the scope `/help/`, because many servers redirect one to the other.
 */
export function inScope(scope: Scope, url: string): boolean {
  const parts = partsOf(url);
  if (parts === null || parts.site !== scope.site) return false;
  const folder = scope.prefix.endsWith('/') ? scope.prefix : `${scope.prefix}/`;
  return parts.path.startsWith(folder) || `${parts.path}/` === folder;
}

/**
 * Extensions of files that are not pages. Extensions that also end the names of pages (`Node.js`, `models.ai`, `site.map`) are
 * missing on purpose: such files are seldom linked to, and their content type shows that they are not pages.
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

/** Whether the path ends with the extension of a file that is not a page, so that it is not fetched. A folder is not a file. */
export function isFileUrl(url: string): boolean {
  if (partsOf(url)?.path.endsWith('/')) return false;
  const ending = /\.([a-z0-9]{1,6})$/i.exec(segmentsOf(url).at(-1) ?? '')?.[1];
  return ending !== undefined && fileEndings.has(ending.toLowerCase());
}
