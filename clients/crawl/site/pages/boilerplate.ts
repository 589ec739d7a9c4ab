/**
 * Separates a site's boilerplate from a page's content. Boilerplate is navigation, banners, share buttons and
 * permalinks.
 */
import { raise } from '../../../files/raise.ts';
import type { Element } from './tree.ts';

const boilerplateRoles = /^(?:navigation|banner|complementary|contentinfo|search|dialog|alertdialog|menu|menubar)$/i;
const boilerplateNames =
  /(?:^|[\s_-])(?:cookies?|cookiebar|consent|gdpr|onetrust|usercentrics|breadcrumbs?|sidebar|toc|table-of-contents|pagination|pager|share|sharing|social|skip-link|newsletter|comments|related-(?:posts|articles)|popup|modal)(?:$|[\s_-])/i;
const inControls = /^(?:h[1-6]|summary|dt)$/;
const heading = /^h[1-6]$/;
/** `inline`: elements that may be part of a sentence. `ofText`: elements that contain sentences. */
const inline = /^(?:a|abbr|b|cite|code|em|i|kbd|mark|q|s|small|span|strong|sub|sup|u|var)$/;
const ofText = /^(?:p|li|dd|dt|td|th|blockquote|figcaption|caption|summary|h[1-6]|a|b|em|i|span|strong|u)$/;
/**
 * A part of the main text with at least this many characters outside links and buttons is content, whatever its id or
 * class.
 */
const minNamedText = 60;

const elements = (parent: Element): Element[] => parent.children.filter((child) => typeof child !== 'string');

function isWithin(item: Element, names: RegExp): boolean {
  for (let up = item.parent; up; up = up.parent) if (names.test(up.name)) return true;
  return false;
}

/** The number of characters on buttons that are children or grandchildren of an element. */
function onButtons(item: Element): number {
  const near = elements(item).flatMap((child) => (child.name === 'button' ? [child] : elements(child)));
  return near.reduce((sum, { name, characters }) => sum + (name === 'button' ? characters : 0), 0);
}

/**
 * Whether a part of the main text is content although its id or class looks like boilerplate. An id is often derived
 * from a heading (`sharing-with-family`). Lists of links and short labels are not content.
 */
function saysSomething(item: Element): boolean {
  if (heading.test(item.name) || item.name === 'dt') return true;
  if (item.name === 'p' || item.name === 'dd') return item.linked < item.characters;
  const plain = item.characters - item.linked - onButtons(item);
  if (plain <= item.linked) return false;
  const paragraphs = elements(item).some(({ name, characters, linked }) => name === 'p' && characters > 2 * linked);
  return plain >= minNamedText || (paragraphs && elements(item).some(({ name }) => heading.test(name)));
}

/** Whether an element is a link or a word inside a sentence, a cell or a heading. */
const isInSentence = ({ name, parent }: Element): boolean =>
  inline.test(name) && parent !== undefined && ofText.test(parent.name) && parent.name !== 'li';

/**
 * Whether an element is boilerplate. `total`: the characters of the whole page. An element with most of them is
 * content, unless it is a `nav`, `menu` or `dialog`. Examples are a form around a whole page, and a `body
 * class="has-sidebar"`. `inMain`: whether the element is inside the part that the author marked as main, where an id or
 * class alone never removes content.
 */
export function isBoilerplate(item: Element, total: number, inMain: boolean): boolean {
  const { name, attributes } = item;
  if (name === 'nav' || name === 'menu' || name === 'dialog') return true;
  if (item.characters * 2 > total) return false;
  if (name === 'footer' || name === 'form') return true;
  if (name === 'header') return !inMain;
  // An aside within the main text is a note, as in documentation, unless it mostly contains links. Any other aside is
  // boilerplate.
  if (name === 'aside') return !inMain || item.linked * 2 > item.characters;
  // Buttons inside headings are often collapsible questions (FAQ).
  if (name === 'button') return !isWithin(item, inControls);
  const { role, class: classes, id } = attributes;
  if (role !== undefined && boilerplateRoles.test(role)) return true;
  const named =
    (classes !== undefined && boilerplateNames.test(classes)) || (id !== undefined && boilerplateNames.test(id));
  return named && !isInSentence(item) && !(inMain && saysSomething(item));
}

const titled = /^(?:h[1-6]|dt|caption|figcaption)$/;
const permalinkSigns = /^(?:\s|\u200b|\ufe0e|\ufe0f|[¶#§🔗⚓])*$/u;
const permalinkWords = /^(?:permalink|permanent link|direct link|link to this|copy link|anchor)(?:$|\s.{0,200}$)/i;
/** Maximum length of a permalink's label, in characters. */
const maxPermalinkCharacters = 240;

/** Whether an element is the permalink of a heading, a term or a caption, such as `¶` or "Link to this heading". */
export function isPermalink(item: Element): boolean {
  const { name, attributes, characters } = item;
  if (name !== 'a' || characters > maxPermalinkCharacters || !attributes['href']?.includes('#')) return false;
  let title = item.parent;
  while (title && !titled.test(title.name)) title = title.parent;
  // A link around a whole heading is the heading's text, not a permalink.
  if (!title || title.characters <= characters) return false;
  const text = textOf(item);
  return permalinkSigns.test(text) || permalinkWords.test(text);
}

/** The text of an element with collapsed white space, and with superscripts as `createHtmlWriter` writes them. */
export function textOf(item: Element, inSuperscript = false): string {
  const raised = inSuperscript || item.name === 'sup';
  const plain = (text: string): string => (raised ? raise(text) : text);
  const text = item.children
    .map((child) => (typeof child === 'string' ? plain(child) : textOf(child, raised)))
    .join('');
  return text.replace(/\s+/g, ' ').trim();
}
