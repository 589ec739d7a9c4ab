/**
 * Parses a page once: the content of its head, every link, and a light tree of what it shows. Scripts, styles and parts
 * that stay hidden never enter the tree. It judges nothing; clients/crawl/site/pages/main.ts finds the main text.
 */
import { Parser } from 'htmlparser2';
import { Unreadable } from '../../../../models/rules/base/unreadable.ts';

export type Element = {
  name: string;
  attributes: Readonly<Record<string, string | undefined>>;
  children: (Element | string)[];
  parent: Element | undefined;
  /** Whether it is shown only by a click or a script; it leaves the tree if no control opens it. */
  hidden: boolean;
  /** The characters shown inside, with blanks collapsed. */
  characters: number;
  /** How many of them are inside links. */
  linked: number;
};

export type Tree = {
  body: Element;
  /** In the order of the page, as written. */
  links: { href: string; nofollow: boolean }[];
  /** From the `<head>` and similar elements; the first of each counts. */
  title: string | undefined;
  socialTitle: string | undefined;
  language: string | undefined;
  canonical: string | undefined;
  base: string | undefined;
  /** `name` and `content` of each `<meta>`, names in lower case. */
  metas: [name: string, content: string][];
  /** `content` of the first `<meta http-equiv=refresh>` that browsers with scripts enabled follow. */
  refresh: string | undefined;
  scripts: number;
  /** Whether the page has an element that only a script fills: `<div id="root"></div>`. */
  appRoot: boolean;
};

/** Elements whose text readers do not see, or that have no text of the page. */
const silent = new Set(
  ['script', 'style', 'template', 'noscript', 'svg', 'math', 'iframe', 'object', 'canvas', 'audio', 'video'].concat([
    'select',
    'datalist',
    'textarea',
    'input',
    'title',
  ]),
);
/**
 * Elements that do not count as a level of nesting: those that a page may omit or never close, and void ones without
 * text.
 */
const unseen = new Set(['head', 'meta', 'link', 'base', 'html', 'body', 'wbr', 'source', 'track', 'param', 'col']);
const appRoots = /^(?:root|app|__next|__nuxt|q-app|react-root|application|ember-app|main-app|svelte)$/i;
/** Browsers flatten nesting deeper than 512; unclosed tags of old pages reach that by accident. */
const maxTreeDepth = 400;
/** Beyond this depth the parser's own work grows with the square of the depth. */
const maxParserDepth = 5_000;
/** Links taken as written, before equal ones are merged: a page with more is a trap, or a map of one. */
const maxRawLinks = 50_000;

function isHidden(attributes: Readonly<Record<string, string | undefined>>): boolean {
  const { hidden, style } = attributes;
  // `until-found` is text that a search within the page opens, such as collapsed answers.
  if (hidden !== undefined && hidden.toLowerCase() !== 'until-found') return true;
  if (attributes['aria-hidden'] === 'true') return true;
  return style !== undefined && /(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*hidden)/i.test(style);
}

/** Where a control names, as `#id`, what it opens. */
const targets = ['data-bs-target', 'data-target', 'href'];

/** Records the ids of what a control opens: a tab, a button of a collapsed answer, a link to the part itself. */
function noteOpened(opened: Set<string>, attributes: Readonly<Record<string, string | undefined>>): void {
  for (const id of attributes['aria-controls']?.split(/\s+/) ?? []) if (id !== '') opened.add(id);
  for (const name of targets) {
    const target = attributes[name];
    if (target !== undefined && target.length > 1 && target.startsWith('#')) opened.add(target.slice(1));
  }
}

/**
 * Whether a reader sees the element after one click. Its own role counts too: scripts open tabs that are not controls
 * themselves.
 */
function isOpened({ attributes: { id, role } }: Element, opened: ReadonlySet<string>): boolean {
  return id !== undefined && (opened.has(id) || role === 'tabpanel' || role === 'region');
}

const element = (name: string, attributes: Element['attributes'], parent: Element | undefined): Element => ({
  name,
  attributes,
  children: [],
  parent,
  hidden: isHidden(attributes),
  characters: 0,
  linked: 0,
});

/** Parses `html`. Never throws for malformed HTML; throws `Unreadable('too_deep')` far beyond what browsers show. */
export function parseTree(html: string): Tree {
  const tree: Tree = {
    body: element('body', {}, undefined),
    links: [],
    title: undefined,
    socialTitle: undefined,
    language: undefined,
    canonical: undefined,
    base: undefined,
    metas: [],
    refresh: undefined,
    scripts: 0,
    appRoot: false,
  };
  let open = tree.body;
  const opened = new Set<string>();
  let depth = 0;
  /** The number of open elements that are not in the tree: inside a silent one, and below the deepest level. */
  let muted = 0;
  let mutedBy: string | undefined;
  let over = 0;
  let nested = 0;
  let titleText: string | undefined;

  const parser = new Parser({
    onopentag(name, attributes) {
      nested += 1;
      if (nested > maxParserDepth) throw new Unreadable('too_deep');
      // The content of a template is not part of the page until a script adds it.
      if (mutedBy !== 'template') noteElement(tree, name, attributes);
      if (mutedBy !== 'template' && mutedBy !== 'noscript') noteRefresh(tree, name, attributes);
      if (muted > 0) {
        muted += 1;
        return;
      }
      if (name === 'title') titleText = '';
      if (silent.has(name)) {
        muted = 1;
        mutedBy = name;
        return;
      }
      if (unseen.has(name)) return;
      noteOpened(opened, attributes);
      if (depth >= maxTreeDepth) {
        if (isHidden(attributes)) {
          muted = 1;
          mutedBy = name;
        } else over += 1;
        return;
      }
      const child = element(name, attributes, open);
      open.children.push(child);
      open = child;
      depth += 1;
    },
    ontext(text) {
      if (titleText !== undefined) titleText += text;
      if (muted > 0) return;
      open.children.push(text);
    },
    onclosetag(name) {
      nested -= 1;
      if (name === 'title' && titleText !== undefined) {
        tree.title ??= titleText;
        titleText = undefined;
      }
      if (muted > 0) {
        muted -= 1;
        if (muted === 0) mutedBy = undefined;
        return;
      }
      if (unseen.has(name)) return;
      if (over > 0) {
        over -= 1;
        return;
      }
      if (!open.parent) return;
      open = open.parent;
      depth -= 1;
    },
  });
  parser.write(html);
  parser.end();
  settle(tree, tree.body, opened);
  return tree;
}

/**
 * Removes what stays hidden, which is known only now, because a control may come after the element that it opens.
 * Counts the rest.
 */
function settle(tree: Tree, item: Element, opened: ReadonlySet<string>): void {
  const shown: (Element | string)[] = [];
  for (const child of item.children) {
    if (typeof child === 'string') {
      if (/\S/.test(child)) item.characters += child.replace(/\s+/g, ' ').length;
    } else {
      if (child.hidden && !isOpened(child, opened)) continue;
      settle(tree, child, opened);
      // A collapsed part of mostly links is a menu.
      if (child.hidden && child.linked * 2 > child.characters) continue;
      item.characters += child.characters;
      item.linked += child.linked;
    }
    shown.push(child);
  }
  item.children = shown;
  if (item.name === 'a' && item.attributes['href'] !== undefined) item.linked = item.characters;
  if (item.characters === 0 && appRoots.test(item.attributes['id'] ?? '')) tree.appRoot = true;
}

function noteRefresh(tree: Tree, name: string, attributes: Readonly<Record<string, string | undefined>>): void {
  if (name === 'meta' && attributes['http-equiv']?.toLowerCase() === 'refresh') tree.refresh ??= attributes['content'];
}

/** Records the facts about an element that count wherever it stands, hidden or not. */
function noteElement(tree: Tree, name: string, attributes: Readonly<Record<string, string | undefined>>): void {
  switch (name) {
    case 'a':
    case 'area': {
      const { href, rel } = attributes;
      if (href === undefined || tree.links.length >= maxRawLinks) return;
      tree.links.push({ href, nofollow: rel !== undefined && /(?:^|\s)nofollow(?:\s|$)/i.test(rel) });
      return;
    }
    case 'script':
      tree.scripts += 1;
      return;
    case 'base':
      tree.base ??= attributes['href'];
      return;
    case 'html':
      tree.language ??= attributes['lang'] ?? attributes['xml:lang'];
      return;
    case 'link':
      if (/(?:^|\s)canonical(?:\s|$)/i.test(attributes['rel'] ?? '')) tree.canonical ??= attributes['href'];
      return;
    case 'meta': {
      const content = attributes['content'] ?? '';
      tree.metas.push([(attributes['name'] ?? attributes['http-equiv'] ?? '').toLowerCase(), content]);
      if (attributes['property']?.toLowerCase() === 'og:title') tree.socialTitle ??= content;
      return;
    }
    default:
  }
}
