/** The types of a question as the search and the relevance check use it. intelligence/ makes them from messages. */

/**
 * One interpretation of a message, as a list of questions. A passage that answers one of the questions answers the
 * message.
 */
export type Reading = { text: string; questions: string[] };
/**
 * A search text, and the possible readings of the message. Search results are judged by each reading, and the best
 * answered one counts.
 */
export type Asking = {
  text: string;
  readings: Reading[];
  /** When true and this one is answered, no further `Asking` is tried. Otherwise the best answered one counts. */
  settles: boolean;
};
