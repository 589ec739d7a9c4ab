/** The type of the agent's fixed sentences; each language has a file of its own. */

export type Own = {
  called: string;
  /**
   * The sentence when the conversation is escalated to a person outside the team's hours. `{when}` is replaced by the
   * time when the team is back.
   */
  away: string;
  greeting: string;
  thanks: string;
  farewell: string;
  /** The reply to a customer who asks for help in general, or asks what the agent can do. */
  help: string;
  small_talk: string;
  /** The reply to a customer who asks who or what the agent is. */
  bot: string;
  insult: string;
  /** The sentence when nothing was found for the first time; it advises how to continue. */
  notFound: string;
  /** The sentence when nothing was found for the second time in a row; the agent escalates to a person. */
  notFoundAgain: string;
  /** The sentence when the search or the model failed after all retries. */
  outOfOrder: string;
  /** The sentence while a member's approval of an action is awaited. */
  memberAsked: string;
  /** The sentence when an action succeeded and its tool returned no text. */
  actionDone: string;
  actionFailed: string;
  /** The sentence when it is unknown whether an action was carried out. */
  actionUnknown: string;
  actionDeclined: string;
  actionExpired: string;
  /** The sentence when a member has refused an action. */
  actionRefused: string;
  /** The sentence when the customer is not identified well enough to use a tool. */
  signInFirst: string;
  /** The sentence when only a person may do what the customer asked for. */
  personOnly: string;
  /** The sentence when a tool fits the question, but arguments are missing. A list of the missing arguments follows. */
  needsMore: string;
  /** The sentence when an organization has used up the answers that test mode allows in a minute. */
  overTestLimit: string;
  /** The sentence when nothing relevant was found for a question that came through the API. */
  nothingFound: string;
  /** The sentence before a list of headings of passages that may help. */
  mayHelp: string;
  /** The sentence when the customer got the answer before, and the passage has nothing more to quote. */
  nothingMore: string;
  /** The sentence when two documents disagree and the newer one is quoted. `{a}` and `{b}` are the documents' names. */
  newer: string;
  /** The sentence before a quotation in another language than the question's. */
  otherLanguage: string;
};
