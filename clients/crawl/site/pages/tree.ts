/**
 * Parses a page once into the content of its head, all links, and a light tree of the visible elements. The tree
 * contains no scripts, styles or parts that stay hidden. clients/crawl/site/pages/main.ts finds the main text in the
 * tree.
 */
import { Parser } from 'htmlparser2';
import { Unreadable } from '../../../../models/rules/base/unreadable.ts';

export type Element = {
  name: string;
  attributes: Readonly<Record<string, string | undefined>>;
  children: (Element | string)[];
  parent: Element | undefined;
  /**
   * Whether the element is hidden until a click or a script shows it. `settle` removes the element from the tree if no
   * control opens it.
   */
  hidden: boolean;
  /** The number of visible characters inside, with white space collapsed. */
  characters: number;
  /** The number of those characters that are inside links. */
  linked: number;
};

export type Tree = {
  body: Element;
  /** The links in page order, as written. */
  links: { href: string; nofollow: boolean }[];
  /** The text of the first `<title>`; the title of an `<svg>` image does not count. */
  title: string | undefined;
  socialTitle: string | undefined;
  language: string | undefined;
  canonical: string | undefined;
  base: string | undefined;
  /** `name` and `content` of each `<meta>`; names are in lower case. */
  metas: [name: string, content: string][];
  /** `content` of the first `<meta http-equiv=refresh>` that a browser with scripts would follow. */
  refresh: string | undefined;
  scripts: number;
  /** Whether the page has an element that only a script fills, such as `<div id="root"></div>`. */
  appRoot: boolean;
};

/** Elements whose text is invisible, not part of the page's text, or struck out. */
const silent = new Set(
  ['script', 'style', 'template', 'noscript', 'svg', 'math', 'iframe', 'object', 'canvas', 'audio', 'video'].concat([
    'select',
    'datalist',
    'textarea',
    'input',
    'title',
    'del',
    's',
    'strike',
  ]),
);
/**
 * Elements that do not count as a nesting level: elements that pages may omit or never close, and void elements without
 * text.
 */
const unseen = new Set(['head', 'meta', 'link', 'base', 'html', 'body', 'wbr', 'source', 'track', 'param', 'col']);
const appRoots = /^(?:root|app|__next|__nuxt|q-app|react-root|application|ember-app|main-app|svelte)$/i;
/**
 * Maximum depth of the tree. Browsers flatten nesting deeper than 512, which old pages reach accidentally by unclosed
 * tags.
 */
const maxTreeDepth = 400;
/** Beyond this depth the parser takes quadratic time. */
const maxParserDepth = 5_000;
/** Maximum number of links before deduplication. A page with more is a crawler trap, or lists the pages of one. */
const maxRawLinks = 50_000;

function isHidden(attributes: Readonly<Record<string, string | undefined>>): boolean {
  const { hidden, style } = attributes;
  // `until-found` marks text that the browser's search opens, such as collapsed answers.
  if (hidden !== undefined && hidden.toLowerCase() !== 'until-found') return true;
  if (attributes['aria-hidden'] === 'true') return true;
  return style !== undefined && /(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*hidden)/i.test(style);
}

/** Attributes in which a control names, as `#id`, the element that it opens. */
const targets = ['data-bs-target', 'data-target', 'href'];

/**
 * Records the ids of the elements that a control opens. Controls are tabs, buttons of collapsed answers, and links
 * whose `href` is the element's `#id`.
 */
function noteOpened(opened: Set<string>, attributes: Readonly<Record<string, string | undefined>>): void {
  for (const id of attributes['aria-controls']?.split(/\s+/) ?? []) if (id !== '') opened.add(id);
  for (const name of targets) {
    const target = attributes[name];
    if (target !== undefined && target.length > 1 && target.startsWith('#')) opened.add(target.slice(1));
  }
}

/**
 * Whether one click shows the element. An element with an id and the role of a panel counts too, because scripts open
 * panels through elements that are not recognized as controls.
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

/**
 * Parses `html`. Malformed HTML never throws. @throws `Unreadable('too_deep')` when elements are nested deeper than
 * `maxParserDepth`.
 */
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
  /**
   * Counts the open elements that are not in the tree. `muted`: an element named in `silent` or a hidden element deeper
   * than `maxTreeDepth`, and all elements inside it. `over`: other elements deeper than `maxTreeDepth`.
   */
  let muted = 0;
  let mutedBy: string | undefined;
  let over = 0;
  let nested = 0;
  let titleText: string | undefined;

  const parser = new Parser({
    onopentag(name, attributes) {
      nested += 1;
      if (nested > maxParserDepth) throw new Unreadable('too_deep');
      // A template's content is not part of the page until a script adds it.
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
 * Removes the elements that stay hidden and counts the characters of the others. This function runs after parsing,
 * because a control may come after the element that it opens.
 */
function settle(tree: Tree, item: Element, opened: ReadonlySet<string>): void {
  const shown: (Element | string)[] = [];
  for (const child of item.children) {
    if (typeof child === 'string') {
      if (/\S/.test(child)) item.characters += child.replace(/\s+/g, ' ').length;
    } else {
      if (child.hidden && !isOpened(child, opened)) continue;
      settle(tree, child, opened);
      // A collapsed element that mostly contains links is a menu.
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

/** Records what counts for the page even if the element is hidden, such as links. */
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
