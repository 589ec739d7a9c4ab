/** The type of the agent's fixed sentences; each language has a file of its own. */

export type Own = {
  called: string;
  /** A person was called outside the team's hours; `{when}` is when the team is back. */
  away: string;
  greeting: string;
  thanks: string;
  farewell: string;
  /** The reply to a customer who asks for help in general, or what the agent can do. */
  help: string;
  small_talk: string;
  /** The reply to a customer who asks who or what the agent is. */
  bot: string;
  insult: string;
  /** Nothing was found for the first time; the sentence advises how to continue. */
  notFound: string;
  /** Nothing was found for the second time in a row; the agent escalates to a person. */
  notFoundAgain: string;
  /** The search or the model failed after all retries. */
  outOfOrder: string;
  /** A member has to approve an action; sent while the approval is awaited. */
  memberAsked: string;
  /** An action succeeded and its tool returned no text. */
  actionDone: string;
  actionFailed: string;
  /** It is unknown whether an action was carried out. */
  actionUnknown: string;
  actionDeclined: string;
  actionExpired: string;
  /** A member has refused an action. */
  actionRefused: string;
  /** The customer is not identified well enough to use a tool. */
  signInFirst: string;
  /** Only a person may do what the customer asked for. */
  personOnly: string;
  /** A tool fits the question, but arguments are missing; a list of them follows. */
  needsMore: string;
  /** The test organization has used up its answers for this minute. */
  overTestLimit: string;
  /** Nothing relevant was found for a question that came through the API. */
  nothingFound: string;
  /** Precedes a list of headings of passages that may help. */
  mayHelp: string;
  /** The customer got the answer to this question before, and the passage has nothing more to quote. */
  nothingMore: string;
  /** Two documents disagree, and the newer one is quoted. `{a}` and `{b}` are the documents' names. */
  newer: string;
  /** Precedes a quotation in another language than the question's. */
  otherLanguage: string;
};
