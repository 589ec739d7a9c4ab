/**
 * The situations that operators meet, each as a query of the Temporal UI and CLI with what it means and what to do.
 * docs/operating.md has the same table; a test compares the two, and produces each situation. Pure.
 */

/** `query`: gets the current time, because Temporal's query language has no relative times. */
export type Situation = {
  readonly name: string;
  readonly title: string;
  readonly query: (now: Date) => string;
  readonly means: string;
  readonly mend: string;
};

const before = (now: Date, minutes: number): string =>
  `"${new Date(now.getTime() - minutes * 60_000).toISOString().slice(0, 19)}Z"`;
const open = '`ExecutionStatus` = "Running"';

export const situations: readonly Situation[] = [
  {
    name: 'stuck-delivery',
    title: 'A delivery is stuck',
    query: () => `\`Kind\` = "delivery" AND \`Status\` = "retrying" AND ${open}`,
    means: 'A destination of an organization does not take what is sent to it, so later deliveries of its line wait.',
    mend: '`ops show ID` says which delivery waits and what its destination answered: 401 or 403 a refused secret, 404 a wrong address, 5xx or no answer a receiver that is down. Tell the organization, whose receiver it is; when that is mended, `ops retry ID`. A line that must not be sent any more: `ops cancel ID`.',
  },
  {
    name: 'mail-refused',
    title: 'Mail is refused',
    query: () =>
      '`Kind` = "delivery" AND `Status` IN ("retrying", "failed") AND `Provider` IN ("email", "notification")',
    means:
      'The mail server refuses mails, or cannot be reached. Provider `notification`: mails to members; `email`: events that go to an address by mail.',
    mend: '`ops show ID` says whether there was an answer, `npm run doctor` whether it can be reached. Mend SMTP_URL or the address, then `ops retry ID`.',
  },
  {
    name: 'broken-integration',
    title: 'An integration is broken',
    query: () =>
      '`Kind` IN ("delivery", "execution") AND `Status` IN ("retrying", "failed") AND `Provider` IN ("slack", "linear", "github")',
    means: 'A service no longer takes the credential of an organization, or is away.',
    mend: '`ops show ID` says with which status the service answered (401 and 403: a credential). A refused credential: an admin of the organization connects it again. An outage: wait. What waits goes on by itself.',
  },
  {
    name: 'failing-crawl',
    title: 'A crawl fails',
    query: () => '`Kind` = "crawl" AND `Status` = "failed"',
    means: 'The site could not be read, or has no page that may be read. The first line of the details says why.',
    mend: 'Check the spelling of the address, that its robots.txt admits `SupportPlatformBot`, and EGRESS_ALLOW where the host is private. The organization sees the reason (`error` and `problems` of the crawl), and crawls again.',
  },
  {
    name: 'waiting-approval',
    title: 'A tool call waits for a person',
    query: () => `\`Kind\` = "toolcall" AND \`Status\` STARTS_WITH "waiting_" AND ${open}`,
    means: 'A member, or the customer, has to approve the call. It ends by itself as expired.',
    mend: 'The details say who is awaited and until when. Any member of the organization, not only an admin, approves or denies it at `/v1/support/mcp/orgs/{orgId}/approvals`. What has expired, the customer asks for again.',
  },
  {
    name: 'poisoned-document',
    title: 'A document does not get through',
    query: (now) =>
      `\`Kind\` = "document" AND (\`Status\` = "failed" OR (${open} AND \`StartTime\` < ${before(now, 10)}))`,
    means: 'failed: the file is at fault, and its owner is told. Open for ten minutes: MongoDB, the index or the disk.',
    mend: 'Open: `ops show ID` has the failure; mend it, then `ops retry ID`. Failed: its owner uploads another file.',
  },
  {
    name: 'model-away',
    title: 'The model is away',
    query: () => '`Kind` = "conversation" AND `Status` = "without_model"',
    means: 'The model failed, so answers are quoted from the documents without it.',
    mend: 'Read `the model failed` in the log of the workers; check OPENAI_BASE_URL, its key and its limits.',
  },
  {
    name: 'embedding-behind',
    title: 'Embedding is behind',
    query: (now) => `\`Kind\` = "embedding" AND ${open} AND \`StartTime\` < ${before(now, 10)}`,
    means: 'Passages wait for their vectors, and are found by their words alone meanwhile.',
    mend: 'Has `ops show ID` a failure, then mend that: `/health/ready` says what the models lack, or the embedding endpoint (OPENAI_BASE_URL) is away. Without a failure, start more workers of the fleet `embedding`.',
  },
  {
    name: 'nobody-joined',
    title: 'Nobody joined an interview',
    query: () => '`Kind` = "interview" AND `Status` IN ("bot_deployed", "no_show")',
    means: 'bot_deployed: the bot waits for people. no_show: nobody came within ten minutes, and it was cancelled.',
    mend: 'bot_deployed: the organizer asks the people to join; the details say until when. Is the bot missing in the meeting, `POST /v1/orgs/{orgId}/interviews/{interviewId}/rejoin` sends another one. no_show: an organizer schedules the interview again.',
  },
  {
    name: 'flood',
    title: 'An organization floods',
    query: (now) => `${open} AND \`StartTime\` > ${before(now, 5)}`,
    means: 'Many workflows of one organization are open. Others have their turns, but the fleets are busy.',
    mend: '`ops stuck` counts open work by organization, and `ops org ORG` lists it. Start more workers of the fleets whose `task_queue_backlog_age_seconds` grows.',
  },
];
