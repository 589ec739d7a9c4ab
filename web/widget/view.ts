/**
 * The visible parts of the widget: the launcher and the panel, in a shadow tree. It shows the state it is given and
 * reports what the customer does. It knows neither the connection nor the store.
 */
import { countUnread, type Conversation } from './conversation.ts';
import type { LinkState } from '../live/connection.ts';
import { icon, icons, make } from '../live/elements.ts';
import { isComposing } from '../live/keys.ts';
import { createContact, type ContactState } from './contact.ts';
import { createLog, picture, type LogEvents } from './log.ts';
import { accentCss, hoursSentence, type Look } from './look.ts';
import type { Options } from './options.ts';
import { createRating } from './rating.ts';
import { coversScreen, css } from './styles.ts';
import { texts, type Texts } from './texts.ts';

export type Shown = {
  conversation: Conversation;
  link: LinkState;
  readUpTo: string;
  rated: boolean;
  contact: ContactState;
  /** Whether the launcher is shown. While the panel is open, it is shown in any case. */
  offered: boolean;
};
export type ViewEvents = Omit<LogEvents, 'asked'> & {
  opened(): void;
  closed(): void;
  said(body: string): void;
  ended(stars: number | undefined): void;
  typed(): void;
  /** The customer gives an e-mail address, or does not want to (undefined). */
  contacted(email: string | undefined): void;
};

/** Maximum length of a message that the server accepts, in characters. */
const maxBody = 8000;

export function createView(options: Options, on: ViewEvents) {
  const words: Texts = texts[options.locale];
  const host = document.createElement('support-widget');
  const root = host.attachShadow({ mode: 'open' });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  const accent = new CSSStyleSheet();
  root.adoptedStyleSheets = [sheet, accent];

  const endButton = make(
    'button',
    { type: 'button', 'aria-label': words.end, title: words.end, hidden: true },
    icon(icons.end),
  );
  const closeButton = make('button', { type: 'button', 'aria-label': words.close }, icon(icons.down));
  const title = make('h2', { id: 'title', dir: 'auto' }, options.title ?? words.title);
  const link = make('p', { class: 'status', role: 'status' });
  const person = make('p', { class: 'status', role: 'status' });
  const input = make('textarea', {
    id: 'input',
    rows: 1,
    maxlength: maxBody,
    placeholder: words.placeholder,
    enterkeyhint: 'send',
    dir: options.dir,
  });
  const sendButton = make('button', { class: 'primary', 'aria-label': words.send }, icon(icons.send, 'turn'));
  const label = make('label', { class: 'vh', for: 'input' }, words.message);
  const compose = make('form', { class: 'compose' }, label, input, sendButton);
  const hours = make('p', { class: 'hours' });
  // A `div`, because a `header` element would be announced as the page's banner.
  const bar = make('div', { class: 'bar' }, make('div', { class: 'head' }, title, hours), endButton, closeButton);
  const panel = make(
    'section',
    { class: 'panel', id: 'panel', role: 'dialog', 'aria-labelledby': 'title', hidden: true },
    bar,
    person,
    link,
    compose,
  );
  const badge = make('span', { class: 'badge', 'aria-hidden': 'true', hidden: true });
  const launcher = make(
    'button',
    {
      class: 'launcher',
      type: 'button',
      'aria-label': words.open,
      'aria-haspopup': 'dialog',
      'aria-expanded': 'false',
      'aria-controls': 'panel',
      hidden: true,
    },
    icon(icons.chat, 'when-closed'),
    icon(icons.close, 'when-open'),
    badge,
  );
  root.append(
    make(
      'div',
      {
        class: 'root',
        lang: options.locale,
        dir: options.dir,
        'data-theme': options.theme,
        'data-position': options.position,
      },
      panel,
      launcher,
    ),
  );

  const log = createLog(words, options.locale, {
    ...on,
    asked: on.said,
    decided(ask, approved) {
      on.decided(ask, approved);
      // The pressed button has disappeared, so the input gets the focus.
      input.focus();
    },
    replied(ask, action, content) {
      on.replied(ask, action, content);
      input.focus();
    },
  });
  const rating = createRating(words, { send: rate, back: () => showForm('compose') });
  const contact = createContact(words, {
    given: (email) => on.contacted(email),
    later() {
      on.contacted(undefined);
      input.focus();
    },
  });
  bar.after(log.element);
  compose.before(contact.element);
  compose.after(rating.element);
  const covers = window.matchMedia(coversScreen);

  const isOpen = (): boolean => !panel.hidden;

  /** `focus`: whether the text box gets the focus; false when the panel opens by itself after a change of page. */
  function open(focus: boolean): void {
    panel.hidden = false;
    panel.toggleAttribute('data-open', true);
    panel.setAttribute('aria-modal', String(covers.matches));
    launcher.setAttribute('aria-expanded', 'true');
    log.toEnd();
    on.opened();
    if (focus) input.focus();
  }

  function close(): void {
    if (!isOpen()) return;
    const focused = host.shadowRoot?.activeElement != null;
    panel.hidden = true;
    panel.removeAttribute('data-open');
    launcher.setAttribute('aria-expanded', 'false');
    showForm('compose');
    on.closed();
    if (focused) launcher.focus();
  }

  function showForm(which: 'compose' | 'rating'): void {
    const hadFocus = rating.element.contains(root.activeElement);
    compose.hidden = which === 'rating';
    rating.element.hidden = which === 'compose';
    if (which === 'rating') rating.open();
    else if (hadFocus && isOpen()) input.focus();
  }

  function rate(stars: number | undefined): void {
    showForm('compose');
    on.ended(stars);
  }

  function send(): void {
    const body = input.value.trim();
    if (body === '' || input.readOnly) return;
    input.value = '';
    direct();
    on.said(body);
  }

  /** The typed text decides its direction; an empty input has the widget's direction. */
  const direct = (): void => {
    input.dir = input.value === '' ? options.dir : 'auto';
  };
  input.addEventListener('input', direct);
  input.addEventListener('input', () => input.value !== '' && on.typed());
  launcher.addEventListener('click', () => (isOpen() ? close() : open(true)));
  closeButton.addEventListener('click', close);
  endButton.addEventListener('click', () => showForm('rating'));
  compose.addEventListener('submit', (event) => {
    event.preventDefault();
    send();
    input.focus();
  });
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || isComposing(event)) return;
    event.preventDefault();
    send();
  });
  panel.addEventListener('keydown', (event) => {
    // Typing in the widget must not trigger the page's keyboard shortcuts.
    event.stopPropagation();
    if (isComposing(event)) return;
    if (event.key === 'Escape') close();
    else if (event.key === 'Tab' && covers.matches) keepInside(event, panel, root);
  });
  const covered = (): void => panel.setAttribute('aria-modal', String(covers.matches));
  covers.addEventListener('change', covered);
  document.body.append(host);

  return {
    get isOpen() {
      return isOpen();
    },
    open,
    close,
    /** Applies the organization's look and hours. */
    dress(look: Look): void {
      accent.replaceSync(look.accent ? accentCss(look.accent) : '');
      for (const standing of bar.querySelectorAll('img')) standing.remove();
      if (look.logo !== undefined) {
        const logo = picture(look.logo, () => logo.remove());
        bar.prepend(logo);
      }
      hours.textContent = hoursSentence(look, options.locale, words, new Date());
      log.dress(look);
    },
    show(shown: Shown): void {
      contact.show(shown.contact);
      launcher.hidden = !shown.offered && !isOpen();
      log.show(shown.conversation);
      setText(link, linkSentence(shown.link, words));
      setText(person, personSentence(shown, words));
      const over = shown.link === 'ended' || shown.link === 'refused';
      // The input is read-only, not disabled, so that it keeps the focus. With a new session, the customer goes on
      // writing. The disabled send button loses the focus, so the input gets it.
      input.readOnly = over;
      if (over && root.activeElement === sendButton) input.focus();
      sendButton.disabled = over;
      for (const button of log.element.querySelectorAll<HTMLButtonElement>('.offers button, .ask button'))
        button.disabled = over;
      endButton.hidden = over || !shown.conversation.entries.some(({ id }) => id !== undefined) || isResolved(shown);
      const unread = isOpen() ? 0 : countUnread(shown.conversation, shown.readUpTo);
      badge.hidden = unread === 0;
      badge.textContent = unread > 9 ? '9+' : String(unread);
      launcher.setAttribute(
        'aria-label',
        isOpen() ? words.close : unread === 0 ? words.open : words.openUnread(unread),
      );
    },
    /** Clears all fields in which the customer was writing. Called when the customer changes. */
    clear(): void {
      input.value = '';
      direct();
      contact.clear();
      showForm('compose');
    },
    remove(): void {
      covers.removeEventListener('change', covered);
      host.remove();
    },
  };
}

const isResolved = ({ conversation }: Shown): boolean => conversation.status === 'resolved';

/** Sets a text only when it differs, because screen readers announce every change. */
function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

function linkSentence(state: LinkState, words: Texts): string {
  if (state === 'lost') return navigator.onLine ? words.reconnecting : words.offline;
  if (state === 'connecting') return navigator.onLine ? words.connecting : words.offline;
  if (state === 'slow') return words.tooFast;
  return state === 'ended' ? words.ended : state === 'refused' ? words.unavailable : '';
}

function personSentence(shown: Shown, words: Texts): string {
  if (shown.conversation.status === 'escalated') return words.escalated;
  if (!isResolved(shown)) return '';
  return shown.rated ? `${words.thanks} ${words.resolved}` : words.resolved;
}

/** Keeps the focus inside the panel when it covers the whole page. */
function keepInside(event: KeyboardEvent, panel: HTMLElement, root: ShadowRoot): void {
  const stops = [...panel.querySelectorAll<HTMLElement>('button, textarea, a[href], input, [tabindex="0"]')].filter(
    (each) => each.checkVisibility() && !each.matches(':disabled'),
  );
  const edge = event.shiftKey ? stops[0] : stops.at(-1);
  if (root.activeElement !== edge) return;
  event.preventDefault();
  (event.shiftKey ? stops.at(-1) : stops[0])?.focus();
}
