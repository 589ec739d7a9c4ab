const sentenceSegmenter = new Intl.Segmenter('en', { granularity: 'sentence' });
const abbreviation =
  /(?:^|[\s(])(?:Mr|Mrs|Ms|Dr|Prof|St|Str|No|Nr|Art|Abs|Fig|pp|ca|approx|vs|bzw|inkl|(?:\p{L}\.\s?)?\p{L})\.$/u;
/**
 * How many characters before a sentence end are checked: the length of the longest abbreviation with the character
 * before it.
 */
const longestAbbreviation = 16;

/** The sentences of a text, trimmed. A line break always ends a sentence. No word is lost. */
export function sentences(text: string): string[] {
  const found: string[] = [];
  for (const line of text.split(/\n+/)) {
    let from = 0;
    for (const { segment, index } of sentenceSegmenter.segment(line)) {
      const end = index + segment.length;
      const sentence = line.slice(from, end).trim();
      // Unicode's rules also end a sentence after "e.g." in "e.g. Visa". Such an end is ignored, because a long
      // quotation is better than half a sentence.
      if (end < line.length && abbreviation.test(sentence.slice(-longestAbbreviation))) continue;
      if (sentence) found.push(sentence);
      from = end;
    }
  }
  return found;
}
