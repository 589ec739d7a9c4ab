/** Where one sentence of a text ends and the next begins. Pure. */

const sentenceSegmenter = new Intl.Segmenter('en', { granularity: 'sentence' });
const abbreviation =
  /(?:^|[\s(])(?:Mr|Mrs|Ms|Dr|Prof|St|Str|No|Nr|Art|Abs|Fig|pp|ca|approx|vs|bzw|inkl|(?:\p{L}\.\s?)?\p{L})\.$/u;
/** What is read of an open sentence, in characters: more than any of these with what stands before it. */
const longestAbbreviation = 16;

/** The sentences of a text, each line at least one, without what only separates them. Joined again they lose no word. */
export function sentences(text: string): string[] {
  const found: string[] = [];
  for (const line of text.split(/\n+/)) {
    let from = 0;
    for (const { segment, index } of sentenceSegmenter.segment(line)) {
      const end = index + segment.length;
      const sentence = line.slice(from, end).trim();
      // Unicode's rules see an end after "e.g. Visa" too; quoting half a sentence would be worse than a long one.
      if (end < line.length && abbreviation.test(sentence.slice(-longestAbbreviation))) continue;
      if (sentence) found.push(sentence);
      from = end;
    }
  }
  return found;
}
