/**
 * The address of a page: one spelling for each page, where a crawl may go, and which addresses cannot be pages.
 * Pure: it judges the text of an address. Whether a host may be connected to is decided where the connection is made.
 */

/** The longest address crawled, in characters of its final spelling; longer ones are nearly always a loop. */
export const maxUrlLength = 2_048;
/** Beyond this, in characters, an address is not even parsed: percent-encoding can at most treble it, in UTF-8 nine times. */
const maxRawLength = 16_384;
/** Characters of a host's name (RFC 1035). */
const maxHostLength = 253;
/** The same as it is written, each escape counted as one, with a port: parsing takes the square of a foreign host's length. */
const maxRawHostLength = 300;

/** Why an address is no page's. Codes of `crawlReasons` (crawlreason.ts), where the sentences are. */
export type UrlReason = 'bad_url' | 'bad_scheme' | 'credentials' | 'url_too_long';
export type Canonical = { url: string; reason?: undefined } | { url?: undefined; reason: UrlReason };

/** Names of parameters that say where a visitor came from, lower case. From the documentation of the tools that add them. */
const trackingParameters: ReadonlySet<string> = new Set(
  [
    // Google, Microsoft, Meta, TikTok, LinkedIn, X, Yandex, Pinterest, Snapchat, Reddit: the click of an advertisement.
    'gclid gclsrc dclid gbraid wbraid gad_source gad_campaignid srsltid _gl _ga msclkid fbclid igshid igsh',
    'ttclid li_fat_id twclid yclid ysclid _openstat epik sccid rdt_cid',
    // Mailchimp, HubSpot, Marketo, Vero, Omeda, Klaviyo, Drip, Adobe, Matomo: the letter a link stood in.
    'mc_cid mc_eid _hsenc _hsmi __hssc __hstc __hsfp hsctatracking mkt_tok vero_id vero_conv oly_anon_id oly_enc_id',
    '_ke _kx __s s_cid mtm_source mtm_medium mtm_campaign mtm_keyword pk_source pk_medium pk_campaign pk_keyword',
  ].flatMap((names) => names.split(' ')),
);

/** Names that only ever carry a session, lower case. */
const sessionParameter = /^(?:jsessionid|phpsessid|aspsessionid[a-z]*|asp\.net_sessionid|cfid|cftoken|zenid|oscsid)$/;
/** Names that often do: dropped when the value looks like a session's, for `sid=42` may well be a story. */
const maybeSessionParameter = /^(?:sid|sessid|sessionid|session_id)$/;
const sessionValue = /^(?=.*\d)[\w.,~-]{16,}$/;

/** `ref` stays: in documentation it names a branch or a version, and two pages taken for one is worse than one read twice. */
function isNoise(parameter: string): boolean {
  const equals = parameter.indexOf('=');
  const name = (equals < 0 ? parameter : parameter.slice(0, equals)).toLowerCase();
  if (name.startsWith('utm_') || trackingParameters.has(name) || sessionParameter.test(name)) return true;
  return maybeSessionParameter.test(name) && equals >= 0 && sessionValue.test(parameter.slice(equals + 1));
}

const unreserved = /[\w.~-]/;

/**
 * RFC 3986, 6.2.2: escapes of unreserved characters are resolved and all others get upper-case digits. A `%` that begins
 * no escape becomes `%25`, without which `%%34%31` would turn into an escape when it is done a second time.
 */
function normalizeEscapes(text: string): string {
  if (!text.includes('%')) return text;
  return text.replaceAll(/%([0-9a-f]{2})?/gi, (escape, hex: string | undefined) => {
    if (hex === undefined) return '%25';
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return unreserved.test(character) ? character : escape.toUpperCase();
  });
}

/** One slash for many; `;jsessionid=…` and the `(S(…))` segment of ASP.NET, which name a visit and not a page, go. */
function normalizePath(path: string): string {
  const plain = normalizeEscapes(path)
    .replaceAll(/;(?:jsessionid|phpsessid|sid)=[^/;]*/gi, '')
    .replaceAll(/\/\(S\([a-z0-9]{20,32}\)\)(?=\/|$)/gi, '')
    .replaceAll(/\/{2,}/g, '/');
  // What is left of `/.;jsessionid=1/` is a dot segment, which only now can be resolved.
  return /\/\.{1,2}(?:\/|$)/.test(plain) ? new URL(plain, 'http://host').pathname : plain || '/';
}

/**
 * Parameters without tracking and sessions. They are put in the order of their names (those of one name keep theirs), so
 * that a page linked with `a=1&b=2` and `b=2&a=1` is one; where a parameter has no `=` the order may be the meaning
 * (`?page_name&action=edit`), and it stays.
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

/** Whether an address, as written, names a host longer than any: then it is not worth parsing. */
export function namesLongHost(href: string): boolean {
  const [, host = ''] = /^(?:https?:[/\\]*|[/\\]{2,})([^/\\?#]*)/i.exec(href) ?? [];
  return host.length > maxRawHostLength && host.replaceAll(/%[0-9a-f]{2}/gi, '%').length > maxRawHostLength;
}

/** An address without what a parser passes over: blanks and controls around it, tabs and line breaks inside. */
const bareAddress = (href: string): string =>
  href
    .replaceAll(/[\t\n\r]/g, '')
    .replace(/^[^!-\uffff]+/, '')
    .trim();

/**
 * The one spelling of a page's address, absolute; `href` may be relative to `base`. Doing it twice changes nothing.
 *
 * Host in lower case and punycode without a final dot, no default port, no fragment, no dot segments, no repeated
 * slashes, escapes normalised, tracking and session parameters dropped, the others sorted. Kept as they are: the case of
 * the path, a final slash, `index.html` (folding it would lose the page where `/` is refused; where both exist, the
 * canonical link and the content hash show it) and `www.` and the scheme (see `pageKey`).
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

/** The parts of a canonical address that rules look at; null only for what `canonicalUrl` never returns. */
function partsOf(url: string): { site: string; path: string; query: string } | null {
  // Each part ends where the next can only begin, so that no address, however long, is gone through more than once.
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
 * What a crawl counts as one page: the canonical address without its scheme and `www.`. The address itself is what is
 * fetched, so a redirect from http to https or to `www.` leads to the same page and is not a duplicate of itself.
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

/** Endings of files that hold a page, so that a start at one means the folder it lies in. */
const pageEnding = /\.(?:html?|xhtml|shtml|php\d?|aspx?|jspx?|jsf|do|cgi|pl|cfm|md|txt)$/i;

/**
 * The scope of a crawl from its canonical start: the host, with or without `www.`, over http or https, on the same port;
 * and the start's path: `/help`, `/help/` and `/help/index.html` mean the page `/help` and what is below it, never
 * `/helpdesk`.
 */
export function scopeOf(startUrl: string): Scope {
  const { site, path } = partsOf(startUrl) ?? { site: '', path: '/' };
  return { site, prefix: pageEnding.test(path) ? path.slice(0, path.lastIndexOf('/') + 1) : path };
}

/**
 * Whether a canonical address lies in the scope. Asked of every link, every sitemap entry and every hop of a redirect.
 * Of `/help/` the page `/help` is part: many servers send the one to the other.
 */
export function inScope(scope: Scope, url: string): boolean {
  const parts = partsOf(url);
  if (parts === null || parts.site !== scope.site) return false;
  const folder = scope.prefix.endsWith('/') ? scope.prefix : `${scope.prefix}/`;
  return parts.path.startsWith(folder) || `${parts.path}/` === folder;
}

/**
 * Endings of files that are no page. Those that names of pages have as well are missing on purpose (`Node.js`, `models.ai`,
 * `site.map`): such files are seldom linked to, and the content type stops them.
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

/** Whether the end of the path says that this is a file and no page, so that it need not be fetched. A folder is no file. */
export function isFileUrl(url: string): boolean {
  if (partsOf(url)?.path.endsWith('/')) return false;
  const ending = /\.([a-z0-9]{1,6})$/i.exec(segmentsOf(url).at(-1) ?? '')?.[1];
  return ending !== undefined && fileEndings.has(ending.toLowerCase());
}
