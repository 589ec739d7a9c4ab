/** What is known of a language's words; a file a language. All are folded: small letters without accents. */

export type Words = {
  /** An answer never has to contain them. */
  functionWords: readonly string[];
  /**
   * What customers write to a help desk besides function words, by which the language is told. Words that messages of another
   * of these languages also have are left out.
   */
  telling: readonly string[];
  /** How a question begins; patterns. */
  asking: readonly string[];
  /** What joins a question to the one before it. */
  joining: readonly string[];
  /** Words that refer to something said before; patterns. */
  leaning: readonly string[];
};

export const listed = (words: string): readonly string[] => words.trim().split(/\s+/u);
