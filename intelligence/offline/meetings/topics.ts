/**
 * The topics of the parts of an English conversation: things that are named in one part more often than in the others.
 * Pure.
 */
import { thingsIn } from './nouns.ts';
import { terms } from '../../../models/rules/language/words.ts';

const maxWords = 5;
/**
 * The exponent of the share of a thing's mentions that one part has. A larger exponent favours things that only this
 * part names.
 */
const apartness = 0.5;

type Named = { count: number; forms: Map<string, number> };

/** At most `most` topics for each part, and no topic twice. `parts`: the sentences of each part. */
export function topicsOf(parts: readonly (readonly string[])[], most: number): string[][] {
  const named = parts.map(namedIn);
  const everywhere = new Map<string, number>();
  for (const part of named)
    for (const [stem, { count }] of part) everywhere.set(stem, (everywhere.get(stem) ?? 0) + count);
  const used = new Set<string>();
  return named.map((part) => {
    const best = [...part]
      .filter(([stem]) => !used.has(stem))
      .map(([stem, { count, forms }]) => ({
        stem,
        worth: count * (count / everywhere.get(stem)!) ** apartness,
        form: [...forms].toSorted((a, b) => b[1] - a[1] || b[0].length - a[0].length)[0]![0],
      }))
      .toSorted((a, b) => b.worth - a.worth)
      .slice(0, most);
    for (const { stem } of best) used.add(stem);
    return best.map(({ form }) => form);
  });
}

/** The things that the sentences of one part of a meeting name, by the stem of their main noun. */
function namedIn(part: readonly string[]): Map<string, Named> {
  const found = new Map<string, Named>();
  for (const { head, text } of part.flatMap((sentence) => thingsIn(sentence))) {
    const [first] = terms(head);
    if (!first || first.weight < 1 || text.split(' ').length > maxWords) continue;
    const known = found.get(first.stem) ?? { count: 0, forms: new Map<string, number>() };
    known.count += 1;
    known.forms.set(text, (known.forms.get(text) ?? 0) + 1);
    found.set(first.stem, known);
  }
  return found;
}
