/**
 * The names of the kinds of workflows and of the activities, as operators see them in summaries, details and the search
 * attribute `Kind`. No text contains names of people or content such as messages.
 */

/**
 * `kind`: the value of the search attribute `Kind`. `title`: the noun before the id in the summary. `does`: what the
 * workflow does, as one sentence. `stop`: how `ops cancel` stops the workflow; `instead` is a sentence that says why it
 * may not be stopped, and what to do instead.
 */
type KindOf = {
  readonly kind: string;
  readonly title: string;
  readonly does: string;
  /**
   * Whether the workflow ends within an hour. Such a workflow stays on the version of the workers that began it. Other
   * workflows move to the current version, so changes of their code are guarded by `patched`.
   */
  readonly isShort?: true;
  readonly stop: { readonly by: 'update' | 'terminating' } | { readonly instead: string };
};

/** What the details say about failed attempts of open activities. `ops show` replaces this text with the failure. */
export const attemptsElsewhere = 'nothing, or an attempt that is repeated: see Pending Activities';

/**
 * The first thing that a workflow's details tell operators to do: run `ops show`. The output of `ops show` omits this
 * line.
 */
export const seeAttempts = (workflowId: string): string =>
  `see its attempts: \`npm run -s cli -- ops show ${workflowId}\``;

/** `ops cancel` sends the update `cancel`, after which the workflow ends by itself. */
const update = { by: 'update' } as const;
/** `ops cancel` terminates the workflow. Its records stay as they are, so nothing is lost. */
const terminating = { by: 'terminating' } as const;
const erases = { instead: 'Nothing does, since it removes what a person has deleted. Mend what holds it up.' } as const;

/**
 * A row of `kinds` for a workflow that may last longer than an hour. By default, `ops cancel` terminates the workflow.
 */
const long = (kind: string, title: string, does: string, stop: KindOf['stop'] = terminating): KindOf => ({
  kind,
  title,
  does,
  stop,
});
/** A row of `kinds` for a workflow that ends within an hour (`isShort`). */
const short = (...row: Parameters<typeof long>): KindOf => ({ ...long(...row), isShort: true });

export const kinds = {
  announce: short('announcement', 'Announcement of', 'Tells an organization about events of a task or a meeting.'),
  arrangeRecrawl: short('recrawl', 'Change of the crawl schedule', 'Makes the schedule of a site equal its record.', {
    instead: 'Change or delete the schedule of the site.',
  }),
  beginToolGrant: short(
    'toolserver',
    'Sign-in at the tool server, begun by',
    'Prepares a sign-in at a tool server. It ends by itself after 20 s.',
  ),
  conversation: long('conversation', 'Conversation', 'Answers the messages of a conversation, one after the other.', {
    instead: 'Let a member take the conversation over, or close it. The next message starts it again.',
  }),
  copyTestToLive: short('livecopy', 'Copy to live', 'Copies the knowledge of test mode to live mode.', {
    instead: 'It ends by itself. Delete in live mode what should not be there.',
  }),
  crawlSite: long('crawl', 'Crawl', 'Crawls a site and indexes its pages.', update),
  discoverTools: short(
    'toolserver',
    'List of tools, asked for by',
    'Lists the tools of a tool server. It ends by itself after 20 s.',
  ),
  embedPassages: long(
    'embedding',
    'Embedding of',
    'Makes the vectors of passages. Until then they are found by their words.',
  ),
  eraseCustomer: short('erasure', 'Erasure of customer', 'Erases a customer with all data.', erases),
  eraseSource: short('erasure', 'Erasure of source', 'Removes what a deleted document or page left.', erases),
  eraseTask: short('erasure', 'Erasure of task', 'Removes copies of a deleted task.', erases),
  finishToolGrant: short(
    'toolserver',
    'Sign-in at the tool server',
    'Completes a sign-in at a tool server. It ends by itself after 20 s.',
  ),
  inbound: long(
    'inbound',
    'Events from other services for',
    'Processes what other services have sent to an organization.',
  ),
  interview: long('interview', 'Interview', 'Owns an interview from its draft to its evaluation.', {
    instead: 'Cancel the interview: `POST /v1/orgs/{orgId}/interviews/{interviewId}/cancel`.',
  }),
  mailReply: long('mailreply', 'Mail about replies in', 'Mails a customer the replies that they have not read.'),
  maintainStores: long(
    'maintenance',
    'Maintenance of the stores',
    'Repairs and merges the search index. A schedule starts it each hour.',
  ),
  meeting: long('meeting', 'Meeting', 'Keeps a meeting until its time ends, then removes it.', {
    instead: 'Its owner deletes the meeting, which ends this workflow.',
  }),
  memberDeparted: short('departure', 'Departure', 'Ends the grants of a removed member.', {
    instead: 'Nothing does, since it takes rights from a person who has left. Mend what holds it up.',
  }),
  notices: long(
    'notices',
    'Notifications about',
    'Stores notifications of members, and mails those that stay unread. Deliveries send them.',
  ),
  processDocument: short('document', 'Document', 'Reads and indexes a document.', {
    instead: 'Delete the document: the next attempt then ends this workflow.',
  }),
  pruneKnowledge: short('pruning', 'Pruning', 'Removes documents and pages that a member chose to prune.', {
    instead: 'It ends by itself. Upload or crawl again what should stay.',
  }),
  recrawlSite: short('recrawl', 'Firing of the crawl schedule', 'Starts the crawl of a schedule.'),
  releaseCredential: long(
    'release',
    'Release of a credential',
    'Revokes a credential at its service, for up to seven days.',
    { instead: 'Revoke the credential at its service by hand; this workflow then ends by itself.' },
  ),
  retagSource: short('source', 'Tags of source', 'Writes the tags of a document or page to the index.', {
    instead: 'It ends by itself. Change the tags again.',
  }),
  sendLine: long('delivery', 'Deliveries of line', 'Sends deliveries of one line to other services, in order.'),
  taskExecution: long('execution', 'Execution', 'Carries a task out in other services.', {
    instead: 'It ends by itself after its last attempt, or when the task is removed.',
  }),
  taskIssues: long('issues', 'Issues of a task', 'Makes the issues of a task equal the task.'),
  ticketEvents: long('delivery', 'Deliveries of ticket', 'Sends the events of a ticket to other services, in order.'),
  toolCall: long('toolcall', 'Tool call', 'Runs a tool call, after the approval that it needs.', {
    instead: 'A member denies the call, or disconnects the tool server.',
  }),
  tryIntegration: short(
    'integration',
    'Test of the connection',
    'Tests a connection while a person waits. It ends by itself within 80 s.',
  ),
} as const;

export type WorkflowKind = keyof typeof kinds;

/** The kind of a workflow type; undefined for a type that this version does not know. */
export const kindOf = (workflow: string): KindOf | undefined =>
  Object.hasOwn(kinds, workflow) ? kinds[workflow as WorkflowKind] : undefined;

/**
 * The summary of a workflow, such as `Document doc_1 of org_1`. It is cut to 200 characters, because Temporal takes at
 * most 400 bytes.
 */
export function summaryOf(workflow: string, workflowId: string, orgId?: string): string {
  const subject = workflowId.slice(workflowId.indexOf(':') + 1);
  const title = kindOf(workflow)?.title ?? workflow;
  if (orgId === undefined) return title;
  const of = subject.includes(orgId) ? '' : ` of ${orgId}`;
  return `${title} ${subject}${of}`.slice(0, 200);
}

/** What each activity does, as operators read it in a workflow's history. */
export const activities: Readonly<Record<string, string>> = {
  advanceCall: 'run the tool call as far as it goes',
  advanceStep: 'attempt the step at its service',
  announceMeeting: 'store the notifications about the meeting',
  announceTask: 'store the notifications about the task',
  arrangeRecrawl: 'write the schedule to Temporal',
  attendTo: 'answer what waits in the conversation',
  beginRecrawl: 'store the crawl that the schedule starts',
  carryToIssues: 'change the issues at their services',
  collectTranscript: "ask the bot's service for the transcript",
  copyToLive: 'copy documents and pages to live mode',
  crawlBatch: 'fetch pages of the site for half a minute',
  deployBot: 'send a bot into the call',
  dismissBot: 'make the bot leave the call',
  dropOrphanedBytes: 'delete the bytes of uploads that died half-way',
  embedDocument: 'make the vectors of the document and index it',
  embedSome: 'make vectors of passages',
  endExecution: 'store the end of the execution',
  endGrants: 'end the grants of the removed member',
  eraseCopies: 'delete copies in notifications and stored replies',
  eraseCustomer: 'delete the data of the customer',
  eraseRecordings: "have the bots' service delete the recordings",
  eraseSource: 'delete the passages and bytes of the source',
  finishCrawl: 'store the end of the crawl',
  finishSignIn: 'exchange the code for a token',
  forgetInterview: 'delete the record of the interview',
  forgetMeeting: 'delete the record of the meeting',
  giveBack: 'revoke the credential at its service',
  giveUpTasks: "take the removed member's open tasks away",
  indexDocument: 'write the passages of the document to the index',
  inviteCandidate: 'store the mail to the candidate',
  listServerTools: 'ask the tool server for its tools',
  listSteps: 'read which services the task goes to',
  loadInterview: 'read the interview',
  lookAtBot: "ask the bot's service for its state",
  mailUnsent: 'store the mail with the unread replies',
  optimizeIndexes: 'merge the parts of the search index',
  prepareSignIn: 'prepare the sign-in at the tool server',
  processInbound: 'process the events that have arrived',
  pruneKnowledge: 'remove the chosen documents and pages',
  readDocument: 'read the file and cut it into passages',
  readRoom: 'read what people in the room have asked for',
  removeInterview: 'delete the contents of the interview',
  removeMeeting: 'delete the contents of the meeting',
  removeMeetingTasks: 'delete the tasks of the meeting',
  repairIndexes: 'make the search index agree with the database',
  retagSource: 'write the tags to the index',
  scoreInterview: 'score the interview',
  sendEvents: 'send the events of the ticket',
  sendSome: 'send deliveries of the line',
  storeInterview: 'store the state of the interview',
  summarizeInterview: 'summarize the interview',
  tellMembers: 'store the notifications of members, and mail those that are due',
  tryConnection: 'call the service with the credential',
  verifyErasure: 'delete what was written during the erasure',
};
