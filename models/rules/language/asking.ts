/** The questions that the search and the relevance check get. The code in intelligence/ makes them from messages. */

/**
 * One interpretation of a message, as a list of questions. A passage that answers one of the questions answers the
 * message.
 */
export type Reading = { text: string; questions: string[] };
/**
 * A search text, and the possible readings of the message. Search results are judged for each reading, and the reading
 * with the best answer is used.
 */
export type Asking = {
  text: string;
  readings: Reading[];
  /**
   * When true and this `Asking` finds an answer, no further `Asking` is tried. Otherwise the `Asking` with the best
   * answer is used.
   */
  settles: boolean;
};
