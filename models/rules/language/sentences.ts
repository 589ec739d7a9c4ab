/** Where one sentence of a text ends and the next begins. Pure. */

const sentenceSegmenter = new Intl.Segmenter('en', { granularity: 'sentence' });
const abbreviation =
  /(?:^|[\s(])(?:Mr|Mrs|Ms|Dr|Prof|St|Str|No|Nr|Art|Abs|Fig|pp|ca|approx|vs|bzw|inkl|(?:\p{L}\.\s?)?\p{L})\.$/u;
/** How much of an open sentence is checked, in characters: more than any abbreviation with what precedes it. */
const longestAbbreviation = 16;

/** The sentences of a text, at least one per line, without the blanks between them. Joined again they lose no word. */
export function sentences(text: string): string[] {
  const found: string[] = [];
  for (const line of text.split(/\n+/)) {
    let from = 0;
    for (const { segment, index } of sentenceSegmenter.segment(line)) {
      const end = index + segment.length;
      const sentence = line.slice(from, end).trim();
      // Unicode's rules also see an end after "e.g. Visa"; half a sentence as a quotation would be worse than a long
      // one.
      if (end < line.length && abbreviation.test(sentence.slice(-longestAbbreviation))) continue;
      if (sentence) found.push(sentence);
      from = end;
    }
  }
  return found;
}
