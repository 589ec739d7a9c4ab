/**
 * Normalises numbers in texts, so that numbers with different thousands and decimal separators compare as equal. Pure.
 */
import { fold } from '../../models/rules/language/words.ts';

/** Number words without accents. "One" is left out, because it is an article in most languages. */
const words: Readonly<Record<number, string>> = {
  2: 'two twice second zwei zweimal zweite deux deuxieme dos segundo',
  3: 'three third drei dritte trois troisieme tres tercero',
  4: 'four vier quatre cuatro',
  5: 'five funf cinq cinco',
  6: 'six sechs seis',
  7: 'seven sieben sept siete',
  8: 'eight acht huit ocho',
  9: 'nine neun neuf nueve',
  10: 'ten zehn dix diez',
  11: 'eleven elf onze once',
  12: 'twelve zwolf douze doce dozen dutzend douzaine docena',
  13: 'thirteen dreizehn treize trece',
  14: 'fourteen vierzehn quatorze catorce',
  15: 'fifteen funfzehn quinze quince',
  16: 'sixteen sechzehn seize dieciseis',
  17: 'seventeen siebzehn',
  18: 'eighteen achtzehn dieciocho',
  20: 'twenty zwanzig vingt veinte',
  24: 'vierundzwanzig veinticuatro',
  30: 'thirty dreissig trente treinta',
  40: 'forty vierzig quarante cuarenta',
  50: 'fifty funfzig cinquante cincuenta half halb',
  60: 'sixty sechzig soixante sesenta',
  90: 'ninety neunzig noventa',
  100: 'hundred hundert cent cien',
  1000: 'thousand tausend mille mil',
};
const valueOf = new Map(
  Object.entries(words).flatMap(([value, all]) => all.split(' ').map((word) => [word, value] as const)),
);

/** A telephone number, or digits with separators. A blank is a separator only before groups of three digits. */
const number =
  /(?:\+|(?<!\d)0\d{2})[\d ()/-]{5,20}\d|\d+(?:[.,:'’](?=\d)\d+|[\u00a0\u202f\u2009 ](?=\d{3}(?!\d))\d{3})*/gu;
/** Two telephone numbers are equal when their last 7 digits are equal, because the country code may be missing. */
const tellingDigits = 7;
/** A date, which is split into three separate numbers, because the order of day and month differs between countries. */
const date = /\b(\d{1,2})[./](\d{1,2})[./](\d{2,4})\b/gu;

/** The last digit of a price with its cents as superscripts: `9⁹⁹` is read as 9 and as 9.99. */
const cents = /(\d)([⁰¹²³⁴-⁹]{2})(?![⁰¹²³⁴-⁹])/gu;

/** All normalised forms that a number may mean: `1.234` is read as 1234; `16.30` may be a time or a decimal. */
function formsOf(text: string): string[] {
  const digits = text.replaceAll(/\D/gu, '');
  if (/^[+0]/u.test(text) && digits.length >= tellingDigits) return [`tel:${digits.slice(-tellingDigits)}`];
  const time = /^(\d{1,2})[:.](\d\d)$/u.exec(text);
  const parts = text.split(/[^\d]/u);
  const last = parts.at(-1)!;
  const plain = (whole: string, decimals = ''): string => {
    const rest = decimals.replace(/0+$/u, '');
    return whole.replace(/^0+(?=\d)/u, '') + (rest === '' ? '' : `.${rest}`);
  };
  const grouped = parts.slice(1).every(({ length }) => length === 3);
  const isThousands = grouped && parts[0] !== '0' && parts[0]!.length <= 3;
  return [
    ...(grouped ? [plain(parts.join(''))] : []),
    ...(parts.length > 1 && !isThousands ? [plain(parts.slice(0, -1).join(''), last)] : []),
    ...(time ? [`${Number(time[1])}:${time[2]}`, `${Number(time[1]) + 12}:${time[2]}`] : []),
  ];
}

/** The numbers written in digits, each with all its possible forms. */
export const figuresIn = (text: string): string[][] =>
  (text.replaceAll(date, '$1 – $2 – $3').match(number) ?? []).map(formsOf);

/** All numbers of a text, written in digits or words, in normalised form. */
export function numbersIn(text: string): Set<string> {
  const plain = text.replaceAll(cents, (_, digit: string, raised: string) => `${digit}.${raised.normalize('NFKD')}`);
  const found = new Set([...figuresIn(text), ...(plain === text ? [] : figuresIn(plain))].flat());
  for (const word of fold(text).match(/\p{L}+/gu) ?? []) {
    const value = valueOf.get(word);
    if (value !== undefined) found.add(value);
  }
  return found;
}
