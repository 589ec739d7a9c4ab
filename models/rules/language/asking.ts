/** What a message asks, as it is searched for and judged. Types only; intelligence/ reads it out of messages. */

/** One way to understand a message, as a list of questions: a passage that answers one of them answers the message. */
export type Reading = { text: string; questions: string[] };
/** A text to search for, and the readings by which the results are judged: the reading with the best answer counts. */
export type Asking = {
  text: string;
  readings: Reading[];
  /** When this one is answered, no other is tried; otherwise the best answered one counts. */
  settles: boolean;
};
