/** Word lists by language that show that a quotation needs its context or heading. */
import type { Language } from '../../../models/rules/language/language.ts';
import { fold } from '../../../models/rules/language/words.ts';

/**
 * Words at the start of a sentence that refer back to the previous sentence, in lower case without accents. Words that
 * rarely refer back are left out ("Sie", "Das").
 */
const pointing: Partial<Record<Language, string>> = {
  en: 'it|its|this|that|these|those|they|them|their|he|she|then|there|otherwise|also|but|however|so|therefore|instead|both|neither|afterwards|after that|in that case|in this case|if so|if not|yes|no',
  de: 'dies|diese[rmns]?|dieselben?|dann|danach|davor|daran|darauf|dafur|dabei|dazu|damit|darum|dadurch|deshalb|daher|deswegen|dort|sonst|ansonsten|auch|aber|jedoch|allerdings|stattdessen|beide[ns]?|er|ja|nein',
  fr: 'elles?|ils|ce|cela|ceci|cet|cette|ces|ensuite|sinon|aussi|mais|cependant|donc|alors|puis|apres cela|dans ce cas|oui|non',
  es: 'est[aeo]s?|es[aeo]s?|ell[ao]s?|luego|entonces|despues|tambien|pero|sin embargo|por eso|por ello|asi|alli|ambos|ambas|de lo contrario|en ese caso|si,|no,',
};
const points = new RegExp(`^["'“„«(]*(?:${Object.values(pointing).join('|')})(?![\\p{L}\\p{M}\\p{N}])`, 'u');
/** Imperatives about something that was named before: `Send it to us`, `Envoyez-le`. */
const orders =
  /^[\p{L}\p{M}]+(?: (?:it|them|him|this|these|those|one|ihn|es|dies|diese[ns]?)|-l(?:e|a|es|ui)|-en)(?![\p{L}\p{M}\p{N}])/u;

/** Whether a sentence depends on the one before it, judged by its first words. */
export function pointsBack(sentence: string): boolean {
  const plain = fold(sentence.slice(0, 80));
  return points.test(plain) || orders.test(plain);
}

/**
 * Words at the start of a sentence that limit what the previous sentence says, in lower case without accents. Without
 * such a sentence the previous one promises too much.
 */
const limiting: Partial<Record<Language, string>> = {
  en: 'but|however|except|unless|not|only|exceptions?',
  de: 'aber|jedoch|allerdings|ausser|ausgenommen|ausnahmen?|nicht|nur',
  fr: 'mais|cependant|toutefois|sauf|exceptions?',
  es: 'pero|sin embargo|no obstante|salvo|excepto|excepcion(?:es)?',
  it: 'ma|pero|tuttavia|salvo|tranne|eccezioni?',
  pt: 'mas|porem|contudo|exceto|salvo',
  nl: 'maar|echter|behalve|tenzij|uitzondering',
  pl: 'ale|jednak|chyba ze|z wyjatkiem|wyjatek',
};
const limits = new RegExp(`^(?:${Object.values(limiting).join('|')})(?![\\p{L}\\p{M}\\p{N}])`, 'u');

/** Whether a sentence is an exception to the one before it, judged by its first words. */
export const limitsBefore = (sentence: string): boolean => limits.test(fold(sentence.slice(0, 40)));

/**
 * Matches the name of a column of remarks, in lower case without accents. A remark applies to the values next to it.
 */
const remark =
  /^(?:notes?|notas?|remarks?|remarques?|comments?|conditions?|bemerkung|anmerkung|hinweis|bedingung|observacion|condicion|comentario)/u;
export const isRemark = (column: string): boolean => remark.test(fold(column));

/** Matches a table cell that is the unit of the cell before it: `per month`, `pro Monat`, `of the amount`. */
const unitOf = /^(?:per|an?|each|every|of|pro|je|jede[rsn]?|vom|von|par|chaque|du|de|por|al|cada|del)\s/u;
export const isUnit = (value: string): boolean => unitOf.test(fold(value));
