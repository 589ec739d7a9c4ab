/** Creates DOM elements. Strings only become text nodes: neither this file nor its users ever parse HTML. */

type Properties = Readonly<Record<string, string | boolean | number>>;

/**
 * An element with attributes and children. The attribute value true means an attribute without a value; false leaves
 * the attribute out. Strings become text nodes.
 */
export function make<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Properties = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) {
    if (value !== false) element.setAttribute(attribute, value === true ? '' : String(value));
  }
  element.append(...children);
  return element;
}

/** A decorative icon without a label. `paths`: SVG path data on a grid of 24 by 24. */
export function icon(paths: readonly string[], className = ''): SVGSVGElement {
  const space = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(space, 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  if (className) svg.setAttribute('class', className);
  for (const data of paths) {
    const path = document.createElementNS(space, 'path');
    path.setAttribute('d', data);
    svg.append(path);
  }
  return svg;
}

export const icons = {
  chat: ['M4 5h16v11H9l-5 4z', 'M8 9h8', 'M8 12h5'],
  close: ['M6 6l12 12', 'M18 6L6 18'],
  down: ['M6 9l6 6 6-6'],
  send: ['M4 12h14', 'M12 6l6 6-6 6'],
  end: ['M4 12.5l5 5L20 6.5'],
  spark: ['M12 4l2 6 6 2-6 2-2 6-2-6-6-2 6-2z'],
} as const;

/** A link to another page if the address is a web address; otherwise the text alone. */
export function link(address: string, text: string): Node {
  if (!URL.canParse(address) || !['http:', 'https:'].includes(new URL(address).protocol)) {
    return document.createTextNode(text);
  }
  return make('a', { href: address, target: '_blank', rel: 'noopener noreferrer' }, text);
}

/** The text, in which web addresses become links. */
export function linked(text: string): Node[] {
  return text
    .split(/(https?:\/\/[^\s<>"']*[^\s<>"'.,;:!?)\]])/)
    .map((part, index) => (index % 2 === 1 ? link(part, part) : document.createTextNode(part)));
}
