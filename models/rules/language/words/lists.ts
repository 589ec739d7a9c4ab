/**
 * The word lists of a language; each language has a file of its own. All words are folded: lower case without accents.
 */

export type Words = {
  /** Stop words, which an answer need not contain. */
  functionWords: readonly string[];
  /**
   * Further words that customers often write, which identify the language. A word that also occurs in messages of
   * another of these languages is left out, because the word would not tell the two languages apart.
   */
  telling: readonly string[];
  /** Patterns of words that begin a question. */
  asking: readonly string[];
  /** Words that join a question to the question before it. */
  joining: readonly string[];
  /** Patterns of words that refer back to something said before. */
  leaning: readonly string[];
};

export const listed = (words: string): readonly string[] => words.trim().split(/\s+/u);
