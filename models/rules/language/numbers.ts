/** Numbers as people write them, in one form, whatever separates thousands and decimals. Pure; the words are data. */
import { fold } from './words.ts';

/** Numbers as words, folded; "one" is an article in most languages and is left out. */
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

/** A telephone number, or digits with what may stand between them: a blank only before groups of three. */
const number =
  /(?:\+|(?<!\d)0\d{2})[\d ()/-]{5,20}\d|\d+(?:[.,:'’](?=\d)\d+|[\u00a0\u202f\u2009 ](?=\d{3}(?!\d))\d{3})*/gu;
/** Of a telephone number, that many digits at its end tell it from others; before them it may have a country's code or not. */
const tellingDigits = 7;
/** A day, a month and a year are three numbers, in whichever order. */
const date = /\b(\d{1,2})[./](\d{1,2})[./](\d{2,4})\b/gu;

/** What a number may mean: `1.234` is taken for a thousand and more, `16.30` may be a time. */
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

/** The numbers of a text in figures, each in all forms that it may mean. */
export const figuresIn = (text: string): string[][] =>
  (text.replaceAll(date, '$1 – $2 – $3').match(number) ?? []).map(formsOf);

/** Every number that a text has, in figures or words. */
export function numbersIn(text: string): Set<string> {
  const found = new Set(figuresIn(text).flat());
  for (const word of fold(text).match(/\p{L}+/gu) ?? []) {
    const value = valueOf.get(word);
    if (value !== undefined) found.add(value);
  }
  return found;
}
