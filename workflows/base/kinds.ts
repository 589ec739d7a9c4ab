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

export const kinds = {
  announce: {
    isShort: true,
    kind: 'announcement',
    title: 'Announcement of',
    does: 'Tells an organization about events of a task or a meeting.',
    stop: terminating,
  },
  arrangeRecrawl: {
    isShort: true,
    kind: 'recrawl',
    title: 'Change of the crawl schedule',
    does: 'Makes the schedule of a site equal its record.',
    stop: { instead: 'Change or delete the schedule of the site.' },
  },
  beginToolGrant: {
    isShort: true,
    kind: 'toolserver',
    title: 'Sign-in at the tool server, begun by',
    does: 'Prepares a sign-in at a tool server. It ends by itself after 20 s.',
    stop: terminating,
  },
  conversation: {
    kind: 'conversation',
    title: 'Conversation',
    does: 'Answers the messages of a conversation, one after the other.',
    stop: { instead: 'Let a member take the conversation over, or close it. The next message starts it again.' },
  },
  copyTestToLive: {
    isShort: true,
    kind: 'livecopy',
    title: 'Copy to live',
    does: 'Copies the knowledge of test mode to live mode.',
    stop: { instead: 'It ends by itself. Delete in live mode what should not be there.' },
  },
  crawlSite: {
    kind: 'crawl',
    title: 'Crawl',
    does: 'Crawls a site and indexes its pages.',
    stop: update,
  },
  discoverTools: {
    isShort: true,
    kind: 'toolserver',
    title: 'List of tools, asked for by',
    does: 'Lists the tools of a tool server. It ends by itself after 20 s.',
    stop: terminating,
  },
  embedPassages: {
    kind: 'embedding',
    title: 'Embedding of',
    does: 'Makes the vectors of passages. Until then they are found by their words.',
    stop: terminating,
  },
  eraseCustomer: {
    isShort: true,
    kind: 'erasure',
    title: 'Erasure of customer',
    does: 'Erases a customer with all data.',
    stop: erases,
  },
  eraseSource: {
    isShort: true,
    kind: 'erasure',
    title: 'Erasure of source',
    does: 'Removes what a deleted document or page left.',
    stop: erases,
  },
  eraseTask: {
    isShort: true,
    kind: 'erasure',
    title: 'Erasure of task',
    does: 'Removes copies of a deleted task.',
    stop: erases,
  },
  finishToolGrant: {
    isShort: true,
    kind: 'toolserver',
    title: 'Sign-in at the tool server',
    does: 'Completes a sign-in at a tool server. It ends by itself after 20 s.',
    stop: terminating,
  },
  inbound: {
    kind: 'inbound',
    title: 'Events from other services for',
    does: 'Processes what other services have sent to an organization.',
    stop: terminating,
  },
  interview: {
    kind: 'interview',
    title: 'Interview',
    does: 'Owns an interview from its draft to its evaluation.',
    stop: { instead: 'Cancel the interview: `POST /v1/orgs/{orgId}/interviews/{interviewId}/cancel`.' },
  },
  mailReply: {
    kind: 'mailreply',
    title: 'Mail about replies in',
    does: 'Mails a customer the replies that they have not read.',
    stop: terminating,
  },
  maintainStores: {
    kind: 'maintenance',
    title: 'Maintenance of the stores',
    does: 'Repairs and merges the search index. A schedule starts it each hour.',
    stop: terminating,
  },
  meeting: {
    kind: 'meeting',
    title: 'Meeting',
    does: 'Keeps a meeting until its time ends, then removes it.',
    stop: { instead: 'Its owner deletes the meeting, which ends this workflow.' },
  },
  memberDeparted: {
    isShort: true,
    kind: 'departure',
    title: 'Departure',
    does: 'Ends the grants of a removed member.',
    stop: { instead: 'Nothing does, since it takes rights from a person who has left. Mend what holds it up.' },
  },
  notices: {
    kind: 'notices',
    title: 'Notifications about',
    does: 'Stores notifications of members, and mails those that stay unread. Deliveries send them.',
    stop: terminating,
  },
  processDocument: {
    isShort: true,
    kind: 'document',
    title: 'Document',
    does: 'Reads and indexes a document.',
    stop: { instead: 'Delete the document: the next attempt then ends this workflow.' },
  },
  pruneKnowledge: {
    isShort: true,
    kind: 'pruning',
    title: 'Pruning',
    does: 'Removes documents and pages that a member chose to prune.',
    stop: { instead: 'It ends by itself. Upload or crawl again what should stay.' },
  },
  recrawlSite: {
    isShort: true,
    kind: 'recrawl',
    title: 'Firing of the crawl schedule',
    does: 'Starts the crawl of a schedule.',
    stop: terminating,
  },
  releaseCredential: {
    kind: 'release',
    title: 'Release of a credential',
    does: 'Revokes a credential at its service, for up to seven days.',
    stop: { instead: 'Revoke the credential at its service by hand; this workflow then ends by itself.' },
  },
  retagSource: {
    isShort: true,
    kind: 'source',
    title: 'Tags of source',
    does: 'Writes the tags of a document or page to the index.',
    stop: { instead: 'It ends by itself. Change the tags again.' },
  },
  sendLine: {
    kind: 'delivery',
    title: 'Deliveries of line',
    does: 'Sends deliveries of one line to other services, in order.',
    stop: terminating,
  },
  taskExecution: {
    kind: 'execution',
    title: 'Execution',
    does: 'Carries a task out in other services.',
    stop: { instead: 'It ends by itself after its last attempt, or when the task is removed.' },
  },
  taskIssues: {
    kind: 'issues',
    title: 'Issues of a task',
    does: 'Makes the issues of a task equal the task.',
    stop: terminating,
  },
  ticketEvents: {
    kind: 'delivery',
    title: 'Deliveries of ticket',
    does: 'Sends the events of a ticket to other services, in order.',
    stop: terminating,
  },
  toolCall: {
    kind: 'toolcall',
    title: 'Tool call',
    does: 'Runs a tool call, after the approval that it needs.',
    stop: { instead: 'A member denies the call, or disconnects the tool server.' },
  },
  tryIntegration: {
    isShort: true,
    kind: 'integration',
    title: 'Test of the connection',
    does: 'Tests a connection while a person waits. It ends by itself within 80 s.',
    stop: terminating,
  },
} as const satisfies Readonly<Record<string, KindOf>>;

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
