/** What the page says, in the browser's language where it is one of ours. A missing text is a type error. */
import { computed, signal } from '@preact/signals';
import { en } from './en/index.ts';

/** The texts of a language: those of English in other words. */
export type Worded<T> = {
  [K in keyof T]: T[K] extends string ? string : T[K] extends (...given: never) => string ? T[K] : Worded<T[K]>;
};
export type Texts = Worded<typeof en>;

const others: Record<string, () => Promise<Texts>> = {};

export const locale = signal('en');
export const texts = signal<Texts>(en);
export const languages = computed(() => ['en', ...Object.keys(others)]);

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
