/** Normalizes the options of the script tag: a missing or invalid option gets its default. */
import { localeOf } from '../live/sentences.ts';
import { texts, type Locale } from './texts.ts';

/**
 * The customer who uses the chat. Without any of these fields, the customer is a visitor, whom an id in this browser
 * identifies.
 */
export type Identity = {
  /** The session token that the page's backend created. It identifies the customer, so the other fields are ignored. */
  sessionToken?: string | undefined;
  email?: string | undefined;
  /** The signature of the e-mail address, hexadecimal. */
  sig?: string | undefined;
};

export type Options = {
  key: string | undefined;
  product: string | undefined;
  identity: Identity;
  theme: 'auto' | 'light' | 'dark';
  /** `start` and `end` depend on the direction of writing. */
  position: 'start' | 'end' | 'left' | 'right';
  dir: 'ltr' | 'rtl';
  locale: Locale;
  title: string | undefined;
};

/** `settings`: the script tag's `data-` attributes. `page`: facts about the browser and the page. */
export function readOptions(
  settings: Readonly<Record<string, string | undefined>>,
  page: { languages: readonly string[] },
): Options {
  const locale = localeOf(texts, settings['locale'] ? [settings['locale']] : page.languages);
  return {
    key: given(settings['key']),
    product: given(settings['product']),
    identity: {
      sessionToken: given(settings['sessionToken']),
      email: given(settings['email']),
      sig: given(settings['sig']),
    },
    theme: oneOf(settings['theme'], ['auto', 'light', 'dark']),
    position: oneOf(settings['position'], ['end', 'start', 'left', 'right']),
    dir: oneOf(settings['dir'], locale === 'ar' ? ['rtl', 'ltr'] : ['ltr', 'rtl']),
    locale,
    title: given(settings['title']),
  };
}

function given(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value.trim();
}

/** The value if it is allowed; otherwise the first allowed one. */
function oneOf<T extends string>(value: string | undefined, allowed: readonly [T, ...T[]]): T {
  return allowed.find((each) => each === value?.trim()) ?? allowed[0];
}

/** The claims of a session token; undefined when the text is no token. Only the server verifies its signature. */
export function readToken(token: string): { org: string; sub: string } | undefined {
  try {
    const part = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/');
    const bytes = Uint8Array.from(atob(part), (character) => character.charCodeAt(0));
    const { org, sub } = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
    return typeof org === 'string' && typeof sub === 'string' ? { org, sub } : undefined;
  } catch {
    return undefined;
  }
}
