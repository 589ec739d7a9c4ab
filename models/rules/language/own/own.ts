/** Everything that the agent says without a source document, and what it puts around quotations; a file a language. */

export type Own = {
  called: string;
  greeting: string;
  thanks: string;
  farewell: string;
  /** Asked what it can do, or for help with nothing in particular. */
  help: string;
  small_talk: string;
  /** Asked who or what it is. */
  bot: string;
  insult: string;
  /** Nothing was found, with advice on how to continue. */
  notFound: string;
  /** Nothing was found a second time. */
  notFoundAgain: string;
  /** The search or the model failed, after all retries. */
  outOfOrder: string;
  /** A member has to agree to an action; said while it waits. */
  memberAsked: string;
  /** An action was done and said nothing of itself. */
  actionDone: string;
  actionFailed: string;
  /** It is not known whether an action was carried out. */
  actionUnknown: string;
  actionDeclined: string;
  actionExpired: string;
  /** A member has refused an action. */
  actionRefused: string;
  /** The customer is not known well enough for a tool. */
  signInFirst: string;
  /** Only a person may do what was asked. */
  personOnly: string;
  /** A tool fits, and something it needs was not said; what that is follows. */
  needsMore: string;
  /** A test organization has used up its answers for this minute. */
  overTestLimit: string;
  /** Nothing relevant was found for a question of the API; a chat says more (escalation.ts). */
  nothingFound: string;
  /** Above headings of passages that may help. */
  mayHelp: string;
  /** A question was answered before, and the passage says no more. */
  nothingMore: string;
  /** Two documents disagree, and the newer one is quoted; `{a}` and `{b}` are their names. */
  newer: string;
};
