/**
 * The texts of the page, in the browser's language if the page has it, otherwise in English. A missing text is a type
 * error.
 */
import { signal } from '@preact/signals';
import { en, type Texts } from './en.ts';

/** The other languages, loaded when they are chosen. */
const others: Record<string, () => Promise<Texts>> = {
  de: () => import('./de.ts').then(({ de }) => de),
  es: () => import('./es.ts').then(({ es }) => es),
  fr: () => import('./fr.ts').then(({ fr }) => fr),
};

export const locale = signal('en');
export const texts = signal<Texts>(en);

/** Chooses the first of these languages that the page has; English when it has none. */
export async function speak(wanted: readonly string[]): Promise<void> {
  const known = wanted.find((one) => one.slice(0, 2) === 'en' || others[one.slice(0, 2)]) ?? 'en';
  const load = others[known.slice(0, 2)];
  texts.value = load ? await load() : en;
  const language = known.slice(0, 2);
  // A browser may name a locale that `Intl` does not accept.
  locale.value = Intl.NumberFormat.supportedLocalesOf(known.replace(/@.*/, ''))[0] ?? language;
  document.documentElement.lang = language;
}
