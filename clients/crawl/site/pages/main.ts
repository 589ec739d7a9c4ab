/**
 * Finds the main text of a page. The part that the author marked (`<main>`, a single `<article>`) comes first.
 * Otherwise Readability looks for the main text. If Readability finds much less text than the page has, everything
 * except navigation is taken.
 */
import { Readability } from '@mozilla/readability';
import { DOMParser } from 'linkedom';
import { createHtmlWriter, type HtmlWriter } from '../../../files/html.ts';
import { Blocks, type Limits } from '../../../files/limits.ts';
import { isBoilerplate, isPermalink, textOf } from './boilerplate.ts';
import type { Element } from './tree.ts';

/** Below this many characters Readability is unreliable, and the page is short enough to take whole. */
const readabilityMinCharacters = 1_500;
/** Above this many elements Readability takes seconds (worse than linear time), so the page is taken whole. */
const readabilityMaxElements = 20_000;
/**
 * A marked main part is used if it has at least this share of the page's text (boilerplate excluded), or this many
 * characters.
 */
const landmarkMinShare = 0.25;
const landmarkMinCharacters = 200;
/**
 * Readability's result must have at least this share of the text outside links; otherwise Readability has truncated the
 * page.
 */
const readabilityMinShare = 0.5;

const elements = (parent: Element): Element[] => parent.children.filter((child) => typeof child !== 'string');

const isMain = ({ name, attributes }: Element): boolean => name === 'main' || attributes['role'] === 'main';

type Found = { mains: Element[]; articles: Element[]; titles: Element[]; count: number };

/** Removes boilerplate from the tree in place, and records the elements that later steps need. */
function prune(item: Element, total: number, found: Found, inMain: boolean): void {
  const kept: (Element | string)[] = [];
  let characters = item.characters;
  let linked = item.linked;
  for (const child of item.children) {
    if (typeof child === 'string') {
      kept.push(child);
      continue;
    }
    // A site's header is boilerplate, but the only h1 of the page may be in it.
    if (child.name === 'h1' && child.characters > 0) found.titles.push(child);
    const before = [child.characters, child.linked] as const;
    if (isBoilerplate(child, total, inMain) || isPermalink(child)) {
      noteTitles(child, found);
      characters -= before[0];
      linked -= before[1];
      continue;
    }
    found.count += 1;
    const main = isMain(child);
    if (main) found.mains.push(child);
    else if (child.name === 'article' && !inMain) found.articles.push(child);
    prune(child, total, found, inMain || main || child.name === 'article');
    characters -= before[0] - child.characters;
    linked -= before[1] - child.linked;
    kept.push(child);
  }
  item.children = kept;
  item.characters = characters;
  item.linked = linked;
}

function noteTitles(item: Element, found: Found): void {
  for (const child of elements(item)) {
    if (child.name === 'h1' && child.characters > 0) found.titles.push(child);
    else noteTitles(child, found);
  }
}

const largest = (items: readonly Element[]): Element | undefined =>
  items.toSorted((a, b) => b.characters - a.characters)[0];

/** The part that the author marked as main, if it has enough text. */
function landmark(body: Element, { mains, articles }: Found): Element | undefined {
  const main = largest(mains);
  const enough = ({ characters }: Element): boolean =>
    characters >= landmarkMinCharacters || characters >= body.characters * landmarkMinShare;
  if (main && enough(main)) return main;
  const [article, another] = articles;
  return article && !another && article.characters * 2 >= body.characters ? article : undefined;
}

function writeTree(writer: HtmlWriter, item: Element): void {
  for (const child of item.children) {
    if (typeof child === 'string') writer.text(child);
    else {
      writer.open(child.name, child.attributes);
      writeTree(writer, child);
      writer.close(child.name);
    }
  }
}

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escape = (text: string): string => text.replace(/[&<>"]/g, (character) => escapes[character] ?? '');
/** The attributes that Readability uses; leaving out the others saves time. */
const weighed = ['class', 'id', 'href', 'role', 'rel', 'itemprop', 'alt', 'start', 'colspan', 'rowspan'];
/**
 * The attributes that `HtmlWriter` reads, by element. Reading DOM attributes is expensive, and most elements need none.
 */
const told: Readonly<Record<string, readonly string[]>> = {
  img: ['alt'],
  ol: ['start'],
  td: ['colspan', 'rowspan'],
  th: ['colspan', 'rowspan'],
};
const voids = new Set(['br', 'hr', 'img', 'embed', 'area']);

function serialize(item: Element): string {
  let html = '';
  for (const child of item.children) {
    if (typeof child === 'string') {
      html += escape(child);
      continue;
    }
    html += `<${child.name}`;
    for (const name of weighed) {
      const value = child.attributes[name];
      if (value !== undefined) html += ` ${name}="${escape(value)}"`;
    }
    html += voids.has(child.name) ? '>' : `>${serialize(child)}</${child.name}>`;
  }
  return html;
}

/** The members of a DOM node that are used here, because this project does not include the DOM's types. */
type DomNode = {
  nodeType: number;
  localName: string;
  nodeValue: string | null;
  firstChild: DomNode | null;
  nextSibling: DomNode | null;
  getAttribute(name: string): string | null;
};

function writeDom(writer: HtmlWriter, parent: DomNode): void {
  for (let node = parent.firstChild; node; node = node.nextSibling) {
    if (node.nodeType === 3) writer.text(node.nodeValue ?? '');
    else if (node.nodeType === 1) {
      const { localName } = node;
      const attributes = (told[localName] ?? []).map((name) => [name, node.getAttribute(name) ?? undefined]);
      writer.open(localName, Object.fromEntries(attributes));
      writeDom(writer, node);
      writer.close(localName);
    }
  }
}

/**
 * Readability without the steps that `parseTree` has already done: removing hidden parts and styles, and collecting
 * links. Headings keep their level. This class takes a third less time than Readability itself. If a new version of the
 * library renames the methods that are overridden here, the library's own steps run again, which costs time and turns
 * each h1 into an h2.
 */
class LeanReadability extends Readability<DomNode> {
  _isProbablyVisible(): boolean {
    return true;
  }

  _cleanStyles(): void {
    // The tree contains no styles.
  }

  _fixRelativeUris(): void {
    // Links are not rewritten, because chunks contain no URLs.
  }

  _replaceNodeTags(): void {
    // The original method turns each h1 into an h2, which would lose the path of headings.
  }
}

/** The main text according to Readability; undefined when it finds none or truncates the page. */
function readable(body: Element): DomNode | undefined {
  const html = `<!doctype html><html><head></head><body>${serialize(body)}</body></html>`;
  const document = new DOMParser().parseFromString(html, 'text/html');
  const article = new LeanReadability(document, {
    // Readability's second and third attempts would parse the page again. The code below decides whether the first
    // result is good enough.
    charThreshold: 0,
    disableJSONLD: true,
    keepClasses: true,
    serializer: (node) => node as DomNode,
  }).parse();
  const text = article?.textContent?.replace(/\s+/g, ' ').length ?? 0;
  if (!article?.content || text < (body.characters - body.linked) * readabilityMinShare) return undefined;
  return article.content;
}

/**
 * The blocks of the main text, under the page's only `<h1>` if that is outside the main text. Prunes `body` in place.
 * @throws `Unreadable('too_much_text')` beyond the limit.
 */
export function mainBlocks(body: Element, limits: Limits): { blocks: Blocks; heading: string | undefined } {
  const found: Found = { mains: [], articles: [], titles: [], count: 0 };
  prune(body, body.characters, found, false);
  const [title, second] = found.titles;
  const heading = title && !second ? textOf(title) : undefined;
  const blocks = new Blocks(limits);
  const writer = createHtmlWriter(blocks, limits, { addresses: false });
  const marked = landmark(body, found);
  const weigh = body.characters >= readabilityMinCharacters && found.count <= readabilityMaxElements;
  const article = marked || !weigh ? undefined : readable(body);
  if (article) writeDom(writer, article);
  else writeTree(writer, marked ?? body);
  writer.end();
  const has = blocks.list.some((block) => block.kind === 'heading' && block.text === heading);
  if (heading && !has && blocks.list.length > 0) blocks.list.unshift({ kind: 'heading', level: 1, text: heading });
  return { blocks, heading };
}
