/**
 * Finds the main text of a page. If the author marked it (`<main>`, a single `<article>`), that part is taken.
 * Otherwise Readability looks for it, and if it finds much less than the page contains, everything except navigation is
 * taken.
 */
import { Readability } from '@mozilla/readability';
import { DOMParser } from 'linkedom';
import { createHtmlWriter, type HtmlWriter } from '../../../files/html.ts';
import { Blocks, type Limits } from '../../../files/limits.ts';
import { isBoilerplate, isPermalink, textOf } from './boilerplate.ts';
import type { Element } from './tree.ts';

/** Below this many characters Readability has too little to judge; the page is short enough to be taken whole. */
const readabilityMinCharacters = 1_500;
/**
 * Above this many elements Readability takes seconds (its time grows faster than the page), so the page is taken whole.
 */
const readabilityMaxElements = 20_000;
/** A marked main part must have this share of the text without navigation, or this many characters. */
const landmarkMinShare = 0.25;
const landmarkMinCharacters = 200;
/** The result of Readability must have this share of the text outside links, or it has cut the page short. */
const readabilityMinShare = 0.5;

const elements = (parent: Element): Element[] => parent.children.filter((child) => typeof child !== 'string');

const isMain = ({ name, attributes }: Element): boolean => name === 'main' || attributes['role'] === 'main';

type Found = { mains: Element[]; articles: Element[]; titles: Element[]; count: number };

/** Removes boilerplate from the tree, in place, and records the notable elements. */
function prune(item: Element, total: number, found: Found, inMain: boolean): void {
  const kept: (Element | string)[] = [];
  let characters = item.characters;
  let linked = item.linked;
  for (const child of item.children) {
    if (typeof child === 'string') {
      kept.push(child);
      continue;
    }
    // A site's header is boilerplate, but its only h1 may still be the page's title.
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

/** The part that its author marked as the main one, when it has enough text to be meant. */
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
/** The attributes that Readability uses; others would only cost time. */
const weighed = ['class', 'id', 'href', 'role', 'rel', 'itemprop', 'alt', 'start', 'colspan', 'rowspan'];
/**
 * The attributes that `HtmlWriter` asks an element for. Asking a DOM is expensive, and most elements have none of them.
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

/** The smallest part of a DOM node that walking needs; this project does not include the DOM's types. */
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
 * Readability without the work that the tree has already done: hidden parts and styles are gone, links are collected
 * elsewhere, headings keep their level. It takes a third less time. If a later version renames its steps, they only run
 * again.
 */
class LeanReadability extends Readability<DomNode> {
  _isProbablyVisible(): boolean {
    return true;
  }

  _cleanStyles(): void {
    // No style is left in the tree.
  }

  _fixRelativeUris(): void {
    // Chunks contain no link addresses.
  }

  _replaceNodeTags(): void {
    // The original would turn each h1 into an h2, and the path of headings would be lost.
  }
}

/** What Readability considers the main text; undefined when it finds none or cuts the page short. */
function readable(body: Element): DomNode | undefined {
  const html = `<!doctype html><html><head></head><body>${serialize(body)}</body></html>`;
  const document = new DOMParser().parseFromString(html, 'text/html');
  const article = new LeanReadability(document, {
    // Its second and third attempts would parse the page again; whether the first was enough is decided below.
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
 * The blocks of the main text, under the page's only `<h1>` if that is outside it. Prunes `body` in place.
 * Throws `Unreadable('too_much_text')` beyond the limit.
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
