/**
 * Checks the arguments of a tool call that a model wants. Numbers, codes, dates, URLs and e-mail addresses must come
 * from the customer or from results of tools. Invented arguments are dropped, and the customer is asked for those that
 * are required. Pure.
 */
import { fold } from '../../../models/rules/language/words.ts';
import { numbersIn } from '../numbers.ts';
import { holdAgainst } from './grounded.ts';
import type { Given } from '../../offline/mcp/arguments.ts';
import { isRead, type ApprovedTool, type JsonSchema } from '../../../models/rules/mcp/tool.ts';
import { variantsOf } from '../../../models/rules/mcp/variants.ts';

export type ArgumentGrounds = {
  /** The customer's messages in this conversation. */
  told: readonly string[];
  /** The results of tools for this message. */
  results: readonly string[];
  /** The customer's e-mail address, if the organization's backend or a signature vouches for it. */
  email?: string | undefined;
  /** Days that the customer's last messages name in words ("next Friday"), as `2026-11-27`. */
  days: readonly string[];
};

type Sources = {
  /** The text that numbers and codes may come from, in lower case without accents; and the numbers in it. */
  text: string;
  numbers: Set<string>;
  emails: readonly string[];
  days: readonly string[];
  /** Whether even plain words must come from the customer, because nobody checks the call before it runs. */
  strict: boolean;
};

const email = /[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*/gu;
const withDigit = /(?=[\p{L}_-]{0,60}\p{N})[\p{L}\p{N}]+(?:[_-][\p{L}\p{N}]+)*/gu;
const isoDay = /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2})[\d:.]*(?:Z|[+-]\d\d:\d\d)?)?$/;
/** Days in digits, whose numbers are no hours. */
const writtenDay = /\d{4}-\d{1,2}-\d{1,2}|\d{1,2}([./])\d{1,2}\1\d{2,4}/gu;
const noon = /\b(?:noon|midday|mittags?|midi|mediodia)\b/u;
/** Words for the minutes 15 and 30, as in "half past three". */
const partOfHour = /\b(?:half|quarter|viertel|demie?|quart|media|cuarto)\b/u;
/** A negative number. The sign in a code or a range (`A-5`, `3-5`) and a dash before a blank make none. */
const negative = /(?:(?<![\p{L}\p{N}])[-−]|\b(?:minus|moins|menos) )\d[\d.,'’]*/gu;
/** A text of at most this many words counts as a name; a longer text is prose, which the model may reword. */
const namingWords = 6;
const languages = ['en', 'de', 'fr', 'es'] as const;

/**
 * Returns the arguments whose values the customer or a result supports, and the required arguments that are missing.
 * Results of tools count as support for a tool that only reads, or whose call a person approves: a list of orders gives
 * the number of the last order. A tool that writes without approval gets arguments only from the customer's own words.
 */
export function borneArguments(
  given: Readonly<Record<string, unknown>>,
  { input_schema, risk_tier }: Pick<ApprovedTool, 'input_schema' | 'risk_tier'>,
  grounds: ArgumentGrounds,
): Given {
  const strict = risk_tier === 'safe_write';
  const seen = !strict && !isRead({ risk_tier });
  const words = strict ? grounds.told : [...grounds.told, ...grounds.results];
  const text = fold(words.join('\n'));
  const sources: Sources = {
    text,
    numbers: numbersIn(text),
    emails: [
      ...(grounds.email === undefined ? [] : [fold(grounds.email)]),
      // When a person approves the call, an address that the customer wrote is allowed too: "change my e-mail to …".
      ...(seen ? (fold(grounds.told.join('\n')).match(email) ?? []) : []),
    ],
    days: grounds.days,
    strict,
  };
  const properties = (input_schema['properties'] ?? {}) as Record<string, JsonSchema>;
  const required = Array.isArray(input_schema['required']) ? input_schema['required'].map(String) : [];
  const borne = Object.entries(given).filter(
    ([name, value]) => value !== null && value !== '' && isBorne(value, properties[name], input_schema, sources),
  );
  const found = Object.fromEntries(borne);
  return { arguments: found, missing: required.filter((name) => !(name in found)) };
}

/** `given`: the schema of the value. `root`: the whole schema, because `given` may contain references into it. */
function isBorne(value: unknown, given: unknown, root: JsonSchema, sources: Sources): boolean {
  if (typeof value === 'boolean' || value === null) return true;
  const variants = variantsOf(given, root);
  if (variants.some((schema) => isOfSchema(value, schema))) return true;
  if (typeof value === 'number') return isBorneNumber(value, sources);
  if (typeof value === 'string') return isBorneText(value, sources);
  // With several variants of the schema, it is unknown which one the model means. So the whole value must be supported
  // under at least one of them.
  const among = variants.length > 0 ? variants : [{}];
  if (Array.isArray(value))
    return among.some((schema) => value.every((one) => isBorne(one, schema['items'], root, sources)));
  return among.some((schema) => {
    const inner = (schema['properties'] ?? {}) as Record<string, unknown>;
    return Object.entries(value as object).every(([name, one]) => isBorne(one, inner[name], root, sources));
  });
}

/** Whether the schema itself gives the value, as `enum`, `const` or `default`. */
const isOfSchema = (value: unknown, schema: JsonSchema): boolean =>
  (Array.isArray(schema['enum']) && schema['enum'].includes(value)) ||
  (typeof value !== 'object' && (schema['const'] === value || schema['default'] === value));

function isBorneNumber(value: number, { text, numbers }: Pick<Sources, 'text' | 'numbers'>): boolean {
  if (value < 0) return numbersIn((text.match(negative) ?? []).join('\n')).has(String(-value));
  return numbers.has(String(value)) || hasToken(String(value), text);
}

function isBorneText(value: string, { text, numbers, emails, days, strict }: Sources): boolean {
  const day = isoDay.exec(value);
  if (day) return isBorneDay(day, text, numbers, days) && isBorneTime(day, text);
  if (/^-\d+(?:\.\d+)?$/.test(value)) return isBorneNumber(Number(value), { text, numbers });
  const folded = fold(value);
  if ((folded.match(email) ?? []).some((one) => !emails.includes(one))) return false;
  const rest = folded.replaceAll(email, ' ');
  if ((rest.match(/[a-z][a-z0-9+.-]*:\/\/\S+/gu) ?? []).some((address) => !text.includes(address))) return false;
  const codes = rest.match(withDigit) ?? [];
  if (codes.some((code) => !hasToken(code, text) && !numbers.has(code))) return false;
  const words = rest.replaceAll(withDigit, ' ').match(/\p{L}+/gu) ?? [];
  if (words.length <= namingWords) return !strict || words.every((word) => text.includes(word));
  return holdAgainst(value, { cited: [text], told: [] }).dropped.length === 0;
}

/** Whether a code or a number occurs in a text, even with separators between its characters. */
function hasToken(token: string, text: string): boolean {
  const characters = token.slice(0, 100).match(/[\p{L}\p{N}.]/gu) ?? [];
  const pattern = characters.map((one) => (one === '.' ? String.raw`\.` : one)).join(String.raw`[ \u00a0_#/-]?`);
  return new RegExp(String.raw`(?<![\p{L}\p{N}])${pattern}(?![\p{L}\p{N}])`, 'u').test(text);
}

function isBorneDay(
  [value, year, month, date]: RegExpExecArray,
  text: string,
  numbers: Set<string>,
  days: readonly string[],
): boolean {
  if (days.includes(value.slice(0, 10)) || text.includes(value.slice(0, 10))) return true;
  const named = new Date(Date.UTC(2000, Number(month) - 1, 1));
  const isMonth =
    numbers.has(String(Number(month))) ||
    languages.some((language) =>
      text.includes(fold(new Intl.DateTimeFormat(language, { month: 'long', timeZone: 'UTC' }).format(named))),
    );
  return isMonth && numbers.has(year!) && numbers.has(String(Number(date)));
}

/** Times that are told by the next hour: `halb vier` is 3:30, `quarter to four` is 3:45. */
const ofNextHour: Readonly<Record<string, RegExp>> = {
  '30': /\bhalb\b/u,
  '45': /\b(?:quarter to|viertel vor|dreiviertel|moins (?:le |un )?quart|menos cuarto)\b/u,
};

/**
 * Whether a text supports the time of a date-time. The first and the last minute of a day count as no time, because
 * they stand for the whole day. An afternoon hour may be written from 1 to 12.
 */
function isBorneTime([, , , , hours = '00', minutes = '00']: RegExpExecArray, text: string): boolean {
  const time = `${hours}:${minutes}`;
  if (time === '00:00' || time === '23:59' || text.includes(`t${time}`)) return true;
  if (time === '12:00' && noon.test(text)) return true;
  const numbers = numbersIn(text.replaceAll(writtenDay, ' '));
  const isMinute =
    minutes === '00' ||
    numbers.has(String(Number(minutes))) ||
    ((minutes === '15' || minutes === '30') && partOfHour.test(text));
  const hour = Number(hours);
  const next = (hour + 1) % 24;
  if (ofNextHour[minutes]?.test(text) && [next, next % 12 || 12].some((one) => numbers.has(String(one)))) return true;
  return [hour, hour % 12 || 12].some(
    (one) => numbers.has(`${one}:${minutes}`) || (isMinute && numbers.has(String(one))),
  );
}
