/** JSON in the one form that Attendee signs: keys in the order of their code points, no blanks, numbers as they were written. */

/** A number as it was written: `2.0` is not `2` when it is signed. */
class Written {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}
type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown;
const parse = JSON.parse as (text: string, reviver: Reviver) => unknown;

/** @throws SyntaxError, or RangeError for what is nested too deep */
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

/** Strings compare by UTF-16 units otherwise, in which an emoji comes before some letters. */
function byCodePoints(one: string, other: string): number {
  const [left, right] = [Array.from(one), Array.from(other)];
  const at = left.findIndex((sign, index) => sign !== right[index]);
  if (at === -1) return left.length - right.length;
  return right[at] === undefined ? 1 : left[at]!.codePointAt(0)! - right[at].codePointAt(0)!;
}
