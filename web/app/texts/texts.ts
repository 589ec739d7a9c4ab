/** What the page says, in the browser's language where it is one of ours. A missing text is a type error. */
import { signal } from '@preact/signals';
import { en, type Texts } from './en.ts';

/** Loaded when they are spoken. */
const others: Record<string, () => Promise<Texts>> = {
  de: () => import('./de.ts').then(({ de }) => de),
  es: () => import('./es.ts').then(({ es }) => es),
  fr: () => import('./fr.ts').then(({ fr }) => fr),
};

export const locale = signal('en');
export const texts = signal<Texts>(en);

/** Takes the first of these languages that the page speaks. */
export async function speak(wanted: readonly string[]): Promise<void> {
  const known = wanted.find((one) => one.slice(0, 2) === 'en' || others[one.slice(0, 2)]) ?? 'en';
  const load = others[known.slice(0, 2)];
  texts.value = load ? await load() : en;
  const language = known.slice(0, 2);
  // A browser may name a locale that `Intl` does not take.
  locale.value = Intl.NumberFormat.supportedLocalesOf(known.replace(/@.*/, ''))[0] ?? language;
  document.documentElement.lang = language;
}
