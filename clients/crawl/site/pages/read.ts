/** Reads one page: its text, its links, and whether it may be indexed. Runs only inside a page process. */
import { createHash } from 'node:crypto';
import type { Block, CutChunk } from '../../../../models/rules/knowledge/chunks.ts';
import { toChunks } from '../../../../models/rules/knowledge/chunks.ts';
import { looksBinary } from '../../../../models/rules/knowledge/document.ts';
import { headBytes, Unreadable } from '../../../../models/rules/base/unreadable.ts';
import { decodeHtml } from '../../../base/charset.ts';
import { namesLongHost } from '../../../../models/rules/crawl/url.ts';
import { defaultLimits, tidy } from '../../../files/limits.ts';
import type { PageContent, PageLink } from './content.ts';
import { maxPageLinks } from './limits.ts';
import { mainBlocks } from './main.ts';
import { parseDirectives, type Directives } from './robots.ts';
import { parseTree, type Tree } from './tree.ts';
import { defined } from '../../../../models/rules/base/defined.ts';

export type PageInput = {
  /** The page's URL after redirects. Relative URLs are resolved against it. */
  url: string;
  /** The `Content-Type` header. */
  contentType?: string;
  /** The `X-Robots-Tag` header; several headers are joined by line breaks. */
  robotsTag?: string;
};

/** Maximum total length of a page's links, in characters: enough for a table of contents with a thousand long URLs. */
const maxLinkCharacters = 200_000;
/** Longer URLs come from faulty programs, and most servers refuse them. */
const maxUrlCharacters = 2_000;
/** A page with scripts and less main text than this, in characters, is rendered. */
const minTextCharacters = 200;
const maxTitleCharacters = 300;
/**
 * A redirect in the page's HTML (`<meta http-equiv="refresh">`) is ignored if its delay is longer than this, in
 * seconds. A page with a longer delay is meant to be read.
 */
const maxRefreshSeconds = 5;

function resolve(href: string, base: string): URL | undefined {
  if (namesLongHost(href.trim())) return undefined;
  const url = URL.parse(href.trim(), base);
  return url && /^https?:$/.test(url.protocol) && url.href.length <= maxUrlCharacters ? url : undefined;
}

function linksOf(tree: Tree, base: string): PageLink[] {
  const found = new Map<string, PageLink>();
  let characters = 0;
  for (const { href, nofollow } of tree.links) {
    if (href.startsWith('#')) continue;
    const url = resolve(href, base);
    if (!url) continue;
    url.hash = '';
    const known = found.get(url.href);
    // A link counts as followable if at least one occurrence has no `nofollow`.
    if (known) known.nofollow &&= nofollow;
    else if (found.size < maxPageLinks && characters + url.href.length <= maxLinkCharacters) {
      characters += url.href.length;
      found.set(url.href, { url: url.href, nofollow });
    }
  }
  return [...found.values()];
}

function directivesOf(tree: Tree, robotsTag: string, agent: string): Directives {
  const named = tree.metas.filter(([name]) => name === 'robots' || (agent !== '' && name === agent));
  const all = [...named.map(([, content]) => parseDirectives(content, agent)), parseDirectives(robotsTag, agent)];
  return { noindex: all.some(({ noindex }) => noindex), nofollow: all.some(({ nofollow }) => nofollow) };
}

/** The target of a refresh such as `0; url=/en/`; none when the delay is long or the page only reloads itself. */
function refreshOf(content: string, base: string): string | undefined {
  const [, seconds, target = ''] = /^\s*(\d{1,9})[\d.]*\s*[;,]?\s*(?:url\s*=)?\s*(.*)$/is.exec(content) ?? [];
  if (seconds === undefined || Number(seconds) > maxRefreshSeconds) return undefined;
  const quote = target[0];
  const href = quote === '"' || quote === "'" ? target.slice(1).split(quote)[0] : target;
  return href ? resolve(href, base)?.href : undefined;
}

function languageOf(tree: Tree): string | undefined {
  const declared = tree.language ?? tree.metas.find(([name]) => name === 'content-language')?.[1];
  try {
    return declared ? Intl.getCanonicalLocales(declared.trim().replaceAll('_', '-'))[0] : undefined;
  } catch {
    return undefined;
  }
}

const oneLine = (text: string): string => tidy(text).replace(/\s+/g, ' ');

/**
 * Hashes the title and the blocks. White space is collapsed first, because blocks still have line breaks and the white
 * space of `<pre>`.
 */
const hashOf = (title: string, blocks: readonly Block[]): string =>
  createHash('sha256')
    .update(JSON.stringify([title, ...blocks]).replace(/(?:\\n|\s)+/g, ' '))
    .digest('hex');

function chunksOf(blocks: readonly Block[], title: string): CutChunk[] {
  try {
    return toChunks(blocks, { title });
  } catch (error) {
    if (error instanceof Unreadable && error.reason === 'empty') return [];
    throw error;
  }
}

/**
 * The text limit is lower than for files, because a crawl holds dozens of pages in memory. The longest real pages,
 * entire manuals, have a million characters.
 */
const limits = { ...defaultLimits, maxTextCharacters: 2_000_000 };

const lengthOf = (block: Block): number =>
  block.kind === 'row' ? block.cells.reduce((sum, [, value]) => sum + value.length, 0) : block.text.length;

/**
 * Reads `bytes` as HTML. `agent`: the crawler's name in lower case, for directives that name it. @throws `Unreadable`
 * (binary, too_deep, too_much_text, too_wide)
 */
export function readPage(bytes: Buffer, { url, contentType, robotsTag = '' }: PageInput, agent: string): PageContent {
  if (looksBinary(bytes.subarray(0, headBytes))) throw new Unreadable('binary');
  const tree = parseTree(decodeHtml(bytes, contentType));
  const base = (tree.base && resolve(tree.base, url)?.href) || url;
  const { noindex, nofollow } = directivesOf(tree, robotsTag, agent);
  const language = languageOf(tree);
  const canonical = tree.canonical ? resolve(tree.canonical, base)?.href : undefined;
  const refresh = tree.refresh === undefined ? undefined : refreshOf(tree.refresh, base);
  // A `noindex` page needs only its links, so its text is not extracted.
  const { blocks, heading } = noindex ? { blocks: { list: [] }, heading: undefined } : mainBlocks(tree.body, limits);
  const named = [tree.title, tree.socialTitle, heading].map((text) => oneLine(text ?? '')).find((text) => text !== '');
  const title = (named ?? new URL(url).pathname).slice(0, maxTitleCharacters);
  const textLength = blocks.list.reduce((sum, block) => sum + lengthOf(block), 0);
  return {
    title,
    ...defined({ language, canonical, refresh }),
    noindex,
    nofollow,
    links: nofollow ? [] : linksOf(tree, base),
    chunks: chunksOf(blocks.list, title),
    textLength,
    contentHash: hashOf(title, blocks.list),
    empty: !noindex && textLength < minTextCharacters && (tree.scripts > 0 || tree.appRoot),
  };
}
