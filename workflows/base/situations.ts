/**
 * The situations that operators meet. Each has a query for the Temporal UI and CLI, its meaning, and what to do.
 * docs/operating.md has the same table. A test compares the table with this list, and produces each situation.
 */

/** `query` takes the current time as an argument, because Temporal's query language has no relative times. */
export type Situation = {
  readonly name: string;
  readonly title: string;
  readonly query: (now: Date) => string;
  readonly means: string;
  readonly mend: string;
};

/** An organization with more open workflows than this counts as a flood. */
export const floodFrom = 100;

const before = (now: Date, minutes: number): string =>
  `"${new Date(now.getTime() - minutes * 60_000).toISOString().slice(0, 19)}Z"`;
const open = '`ExecutionStatus` = "Running"';

export const situations: readonly Situation[] = [
  {
    name: 'stuck-delivery',
    title: 'A delivery is stuck',
    query: () => `\`Kind\` = "delivery" AND \`Status\` = "retrying" AND \`Provider\` = "webhook" AND ${open}`,
    means: 'The webhook of an organization does not take what is sent to it, so later deliveries of its line wait.',
    mend: 'Tell the organization, whose receiver it is, what it answered: 401 or 403 a refused secret, 404 a wrong address, 5xx or no answer a receiver that is down. When that is mended, `ops retry ID`. After the last attempt the delivery is `failed` and the line goes on; the organization sends it again.',
  },
  {
    name: 'mail-refused',
    title: 'Mail is refused',
    query: () =>
      '`Kind` = "delivery" AND `Status` IN ("retrying", "failed") AND `Provider` IN ("email", "notification")',
    means:
      'The mail server refuses mails, or cannot be reached. Provider `notification`: mails to members; `email`: events that go to an address by mail.',
    mend: '`ops org ORG` says whose mail server it is. Its own: tell the organization what it answered. The one of this deployment, answered 4xx (retrying): it refuses the mail for now; read why in the log of that server, whose address `npm run doctor` names (its `ok` is for the login alone), mend it, then `ops retry ID`; else the mail fails after the last attempt. Answered 5xx (failed): it refuses the mail for good; tell the organization, which mends the address and sends the delivery again. No answer: `npm run doctor` says what to mend in SMTP_URL; then `ops retry ID`.',
  },
  {
    name: 'broken-integration',
    title: 'An integration is broken',
    query: () =>
      '`Kind` IN ("delivery", "execution") AND `Status` IN ("retrying", "failed") AND `Provider` IN ("slack", "linear", "github")',
    means: 'A service no longer takes the credential of an organization, or is away.',
    mend: '`ops org ORG` names a connection that is broken, with the word of the service: an admin of the organization connects it again on its page under Settings. Is none broken, the service is away: wait. What waits goes on by itself.',
  },
  {
    name: 'failing-crawl',
    title: 'A crawl fails',
    query: () => '`Kind` = "crawl" AND `Status` = "failed"',
    means: 'The site could not be read, or has no page that may be read. `ops org ORG` says why.',
    mend: 'The organization mends its site: its address, its robots.txt (which must admit `SupportPlatformBot`), its pages. It sees the reason and up to 200 problems on its page under Knowledge, and starts the crawl again there. Only a private host is yours: add it to EGRESS_ALLOW.',
  },
  {
    name: 'waiting-approval',
    title: 'A tool call waits for a person',
    query: () => `\`Kind\` = "toolcall" AND \`Status\` STARTS_WITH "waiting_" AND ${open}`,
    means: 'A member, or the customer, has to approve the call. It ends by itself as expired.',
    mend: '`ops org ORG` says who is awaited, for which tool and until when. Any member of the organization, not only an admin, approves or denies it on its page under Tools, or by the request in `ops show ID`. What has expired, the customer asks for again.',
  },
  {
    name: 'poisoned-document',
    title: 'A document does not get through',
    query: (now) =>
      `\`Kind\` = "document" AND (\`Status\` = "failed" OR (${open} AND \`StartTime\` < ${before(now, 10)}))`,
    means: 'The file is at fault, or the platform.',
    mend: 'Failed: its owner, who is told the reason, mends the file (without its password, say) and uploads it again. Open: `npm run doctor` says whether MongoDB (errors that begin with Mongo; 11600 or 91: it was restarted) or the disk (ENOSPC) is still wrong. If not, or when it is mended, `ops retry ID`.',
  },
  {
    name: 'model-away',
    title: 'The model is away',
    query: () => '`Kind` = "conversation" AND `Status` = "without_model"',
    means:
      'The language model of this deployment failed, so all organizations get quotes from their documents. One that hangs or is over its limit makes answers slow, too.',
    mend: 'Over its rate limit (the line below the workflow says so): when people say that it has lasted for an hour, have the limit raised at its provider, which `npm run doctor` names (its `ok` does not mean that the limit is lifted); until then, wait. Anything else: `npm run doctor` asks it; mend OPENAI_BASE_URL, OPENAI_API_KEY or OPENAI_MODEL. The next message uses it again. The lines `the model failed` in the logs of the workers have more.',
  },
  {
    name: 'embedding-behind',
    title: 'Embedding is behind',
    query: (now) => `\`Kind\` = "embedding" AND ${open} AND \`StartTime\` < ${before(now, 10)}`,
    means: 'Passages wait for their vectors, and are found by their words alone meanwhile.',
    mend: '`ops org ORG` says what fails. The configured embedding model: over its rate limit, have it raised at its provider when it has lasted for an hour, and wait until then; else `npm run doctor` asks OPENAI_BASE_URL. Anything else: the lines `embedding failed` in the logs of the workers say what their models lack. It is tried again by itself, and at once by `ops retry ID`. Without a failure, start more workers of the fleet `embedding`.',
  },
  {
    name: 'nobody-joined',
    title: 'Nobody joined an interview',
    query: () => '`Kind` = "interview" AND `Status` IN ("bot_deployed", "no_show")',
    means: 'A bot was sent to the call of an interview, and nobody came.',
    mend: 'bot_deployed (it still waits): ask the organizer whether the bot is in the call. If so, the organizer asks the people to join; if not, the organizer sends another one, by the request in `ops show ID`. no_show (cancelled after ten minutes): an organizer schedules the interview again.',
  },
  {
    name: 'flood',
    title: 'An organization floods',
    query: (now) => `${open} AND \`StartTime\` > ${before(now, 5)}`,
    means: 'One organization has more than 100 open workflows, so the fleets of its work are busy.',
    mend: 'Start one more worker of each fleet of its work, best on another machine (`npm run worker -- --fleet NAME`): `documents` and `backlog` for documents, `crawl` for crawls, `deliveries` for deliveries; and one more while `task_queue_backlog_age_seconds` stays above 10 s. Nothing is lost.',
  },
];
