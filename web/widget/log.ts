/**
 * The list of messages. Finished messages are in the log, whose additions screen readers announce. An answer that is
 * still being written is below the log and hidden from screen readers, so that it is announced once and complete.
 * Earlier messages, which the customer requests, are above the log, because they are not new.
 */
import { askElement, type AskEvents } from './ask.ts';
import type { Conversation, Entry, Offer } from './conversation.ts';
import { icon, icons, link, linked, make } from '../live/elements.ts';
import type { Look } from './look.ts';
import type { Texts } from './texts.ts';

type Shown = { entry: Entry; element: HTMLElement };

/** A reader who is closer to the end than this, in pixels, is following the conversation. */
const followsWithin = 60;
/** The space above a long newest message, in pixels. */
const marginAbove = 12;

export type LogEvents = AskEvents & {
  /** The customer requests earlier messages. */
  earlier(): void;
  /** The customer chose one of the offered questions. */
  asked(question: string): void;
};

export function createLog(texts: Texts, locale: string, on: LogEvents) {
  const list = make('div', { role: 'log', 'aria-live': 'polite', 'aria-label': texts.messages });
  const begun = make('div', { 'aria-hidden': 'true', class: 'begun' });
  const older = make('div', { class: 'older', role: 'group', 'aria-label': texts.earlier, hidden: true });
  const greeting = make('p', { class: 'greeting', dir: 'auto' }, texts.greeting);
  const starters = make('div', { class: 'starters' });
  const more = make('button', { type: 'button', class: 'earlier', hidden: true }, texts.earlier);
  const told = make('p', { class: 'vh', role: 'status' });
  const element = make(
    'div',
    { class: 'scroll', role: 'region', tabindex: 0, 'aria-label': texts.conversation },
    greeting,
    starters,
    more,
    told,
    older,
    list,
    begun,
  );
  more.addEventListener('click', () => on.earlier());
  let shown: Shown[] = [];
  let faces: Faces = { agentName: undefined, avatar: undefined };
  /** The position to which the widget has scrolled. Any other position means that the reader has scrolled. */
  let scrolledTo = 0;
  let atEnd = false;
  const nearEnd = (): boolean => element.scrollHeight - element.scrollTop - element.clientHeight < followsWithin;
  element.addEventListener('scroll', () => (atEnd = nearEnd()));
  // The newest message stays in view when other parts (rating, a long draft, connection status) take space.
  new ResizeObserver(() => {
    if (element.scrollTop === scrolledTo) toEnd();
    else if (atEnd) element.scrollTop = element.scrollHeight;
  }).observe(element);

  /** Scrolls to the newest message. A message taller than the list is shown from its beginning. */
  function toEnd(): void {
    const last = begun.lastElementChild ?? list.lastElementChild;
    const top = last ? last.getBoundingClientRect().top - element.getBoundingClientRect().top : 0;
    element.scrollTop = Math.min(element.scrollHeight, element.scrollTop + top - marginAbove);
    scrolledTo = element.scrollTop;
  }

  function show({ entries, writing, earlier, older: olderCount }: Conversation): void {
    const followed = element.scrollTop === scrolledTo || nearEnd();
    const said = entries.some(({ state }, index) => state === 'waiting' && index >= shown.length);
    const top = shown[0]?.element;
    const topWas = top?.getBoundingClientRect().top ?? 0;
    const read = olderCount - older.children.length;
    const standing = new Map(shown.map((each) => [keyOf(each.entry), each]));
    shown = entries
      .filter(({ state }) => state !== 'begun')
      .map((entry) => {
        const known = standing.get(keyOf(entry));
        if (known && sameLook(known.entry, entry)) return { entry, element: known.element };
        const fresh = entryElement(entry, faces, texts, locale, on);
        // The element is replaced in place, so that screen readers do not announce a message again once it is sent.
        known?.element.replaceWith(fresh);
        return { entry, element: fresh };
      });
    const elements = shown.map((each) => each.element);
    starters.hidden = entries.length > 0;
    fill(older, elements.slice(0, olderCount));
    fill(list, elements.slice(olderCount));
    showEarlier(earlier !== undefined, olderCount, read);
    showBegun(
      entries.filter(({ state }) => state === 'begun'),
      writing,
    );
    if (read > 0 && top) element.scrollTop += top.getBoundingClientRect().top - topWas;
    else if (followed || said) toEnd();
  }

  /**
   * Updates the button for earlier messages, and announces how many were just added. The keyboard focus is never lost.
   */
  function showEarlier(exists: boolean, olderCount: number, read: number): void {
    const focused = (more.getRootNode() as ShadowRoot).activeElement === more;
    greeting.hidden = exists;
    more.hidden = !exists;
    older.hidden = olderCount === 0;
    if (!exists && focused) element.focus();
    if (read > 0) told.textContent = texts.earlierShown(read);
    else if (olderCount === 0) told.textContent = '';
  }

  function showBegun(entries: readonly Entry[], writing: boolean): void {
    const texted = entries.filter(({ body }) => body !== '');
    if (texted.length === 0) {
      if (!writing) begun.replaceChildren();
      else if (!begun.querySelector('.dots')) begun.replaceChildren(dots(texts));
      return;
    }
    begun.replaceChildren(...texted.map((entry) => entryElement(entry, faces, texts, locale, on)));
  }

  /** Shows the greeting, the suggested questions and the agent as the organization has set them. */
  function dress(look: Look): void {
    greeting.textContent = look.greeting ?? texts.greeting;
    starters.replaceChildren(
      ...(look.starters.length === 0
        ? []
        : [
            offerList(
              look.starters.map((question) => ({ heading: question, question, says: '' })),
              texts,
              on,
            ),
          ]),
    );
    faces = look;
    // All entries are made again with the agent's new name and picture.
    shown = [];
    for (const part of [older, list, begun]) part.replaceChildren();
  }

  return { element, dress, show, toEnd };
}

/** Sets a list's children without moving those already in place. */
function fill(list: HTMLElement, elements: readonly HTMLElement[]): void {
  const kept = new Set<Element>(elements);
  for (const child of Array.from(list.children)) if (!kept.has(child)) child.remove();
  elements.forEach((element, index) => {
    const there = list.children[index];
    if (there !== element) list.insertBefore(element, there ?? null);
  });
}

const keyOf = ({ id, clientId }: Entry): string => (clientId === undefined ? `id:${id}` : `client:${clientId}`);
const sameLook = (one: Entry, other: Entry): boolean =>
  one.body === other.body &&
  one.state === other.state &&
  one.ask?.state === other.ask?.state &&
  one.timestamp === other.timestamp &&
  one.sources.length === other.sources.length &&
  one.offers?.length === other.offers?.length;

function dots(texts: Texts): HTMLElement {
  const beats = make('div', { class: 'body dots' }, make('i'), make('i'), make('i'));
  return make('div', { class: 'entry ai', title: texts.writing }, beats);
}

/** The agent's name and picture, shown with its answers. */
type Faces = Pick<Look, 'agentName' | 'avatar'>;

function entryElement(entry: Entry, faces: Faces, texts: Texts, locale: string, on: LogEvents): HTMLElement {
  const { role, state, sources, timestamp, offers = [], ask, result } = entry;
  if (ask) return askElement(ask, texts, locale, on);
  if (result) {
    const sentence = result.ok ? texts.done(result.label) : texts.notDone(result.label);
    return make('div', { class: 'entry system' }, make('div', { class: 'body' }, make('p', { dir: 'auto' }, sentence)));
  }
  // The offers are shown as buttons, so only the sentence above the offers is shown as text.
  const body = offers.length > 0 ? entry.body.split('\n')[0]! : entry.body;
  const by = make('p', { class: 'by' }, ...faceOf(entry, faces), nameOf(entry, faces, texts));
  if (timestamp !== undefined && !Number.isNaN(Date.parse(timestamp))) {
    const time = new Intl.DateTimeFormat(locale, { hour: 'numeric', minute: '2-digit' });
    by.append(' · ', make('time', { datetime: timestamp }, time.format(new Date(timestamp))));
  }
  // The text's own characters decide its direction. Only a team member's text gets links, because an answer lists its
  // sources.
  const text = make('p', { dir: 'auto' }, ...(role === 'agent' ? linked(body) : [body]));
  const said = make('div', { class: 'body' }, text);
  const element = make('div', { class: `entry ${role} ${state}` }, by, said);
  if (offers.length > 0) element.append(offerList(offers, texts, on));
  if (sources.length > 0) element.append(sourceList(entry, texts));
  if (state === 'waiting' || state === 'failed') element.append(make('p', { class: 'mark' }, texts[state]));
  return element;
}

/**
 * The author that is shown above a message. It says whether a team member or the agent wrote the message, so that
 * nobody confuses the two.
 */
function nameOf({ role, senderName }: Entry, { agentName }: Faces, texts: Texts): string {
  if (role === 'customer') return texts.you;
  if (role === 'agent') return senderName === undefined ? texts.team : `${senderName} · ${texts.team}`;
  if (role === 'system') return texts.title;
  return agentName === undefined ? texts.assistant : `${agentName} · ${texts.assistant}`;
}

/** The agent's picture, or the initials of a member. */
function faceOf({ role, senderName }: Entry, { avatar }: Faces): HTMLElement[] {
  if (role !== 'ai' && role !== 'agent') return [];
  const initials = (senderName ?? '').split(/\s+/).map((word) => Array.from(word)[0] ?? '');
  const own = role === 'ai' ? icon(icons.spark) : [initials[0], initials.slice(1).at(-1)].join('').toUpperCase();
  const face = make('span', { class: 'face', 'aria-hidden': 'true' }, own);
  if (role === 'ai' && avatar !== undefined) face.replaceChildren(picture(avatar, () => face.replaceChildren(own)));
  return [face];
}

/**
 * A decorative picture. `missing`: called when the host page's content security policy forbids the picture, or the
 * picture does not exist.
 */
export function picture(src: string, missing: () => void): HTMLElement {
  const image = make('img', { src, alt: '' });
  image.addEventListener('error', missing);
  return image;
}

function offerList(offers: readonly Offer[], texts: Texts, on: LogEvents): HTMLElement {
  const items = offers.map(({ heading, question, says }) => {
    const button = make('button', { type: 'button', dir: 'auto' }, heading);
    if (says !== '') button.append(make('span', { class: 'says' }, says));
    button.addEventListener('click', () => on.asked(question));
    return make('li', {}, button);
  });
  // Safari does not treat a list without bullets as a list unless its role is set.
  return make('ul', { class: 'offers', role: 'list', 'aria-label': texts.offers }, ...items);
}

/** Lists each source once, because an answer may use several passages of one page. */
function sourceList({ sources }: Entry, texts: Texts): HTMLElement {
  const each = [...new Map(sources.map((source) => [`${source.name}\n${source.url ?? ''}`, source])).values()];
  const items = each.map(({ name, url }) =>
    make('li', {}, make('bdi', {}, url === undefined ? name : link(url, name))),
  );
  return make(
    'div',
    { class: 'sources' },
    make('p', {}, texts.sources),
    make('ul', { 'aria-label': texts.sources }, ...items),
  );
}
