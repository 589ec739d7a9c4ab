/**
 * Writes JSON in the canonical form that Attendee signs: keys sorted by code point, no blanks, numbers as they were
 * written.
 */

/** A number with its original spelling, because `2.0` and `2` have different signatures. */
class Written {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}
type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown;
const parse = JSON.parse as (text: string, reviver: Reviver) => unknown;

/** @throws SyntaxError; RangeError for text that is nested too deeply */
export function canonicalJson(text: string): string {
  return print(parse(text, (_, value, { source }) => (typeof value === 'number' ? new Written(source!) : value)));
}

function print(value: unknown): string {
  if (value instanceof Written) return value.source;
  if (Array.isArray(value)) return `[${value.map(print).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).toSorted(([one], [other]) => byCodePoints(one, other));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${print(item)}`).join(',')}}`;
}

/**
 * Compares two strings by code point. JavaScript's own comparison by UTF-16 code units sorts emoji before some letters.
 */
function byCodePoints(one: string, other: string): number {
  const [left, right] = [Array.from(one), Array.from(other)];
  const at = left.findIndex((sign, index) => sign !== right[index]);
  if (at === -1) return left.length - right.length;
  return right[at] === undefined ? 1 : left[at]!.codePointAt(0)! - right[at].codePointAt(0)!;
}
