/**
 * All rate limits of the system; the configuration, the limiters and docs/configuration.md are made from this table.
 * Pure; api/http/limits.ts counts the requests.
 */

const secondsOf = { minute: 60, hour: 3600, day: 86_400 } as const;

type Rate = {
  /** The default limit; LIMITS in the environment overrides it. */
  points: number;
  per: keyof typeof secondsOf;
  /** What is counted and for whom, as shown in docs/configuration.md. */
  counts: string;
};

export const rates = {
  sign_in: { points: 5, per: 'minute', counts: 'failed logins an account and address' },
  accounts: { points: 100, per: 'hour', counts: 'registrations and logins an address' },
  callbacks: {
    points: 60,
    per: 'minute',
    counts: 'browsers that come back from a sign-in or a consent page elsewhere (OAuth), an address',
  },
  account_mails: {
    points: 5,
    per: 'hour',
    counts: 'mails of one kind (password, new address, invitation) to one mailbox',
  },
  invitations: { points: 100, per: 'hour', counts: 'invitations an account, over all its organizations' },
  outside_mails: {
    points: 100,
    per: 'day',
    counts:
      'mails to people outside (invited, to do a task) and added members an organization, and as many an account over all of its own',
  },
  writes: { points: 600, per: 'minute', counts: 'uploads and changes a credential' },
  queries: {
    points: 600,
    per: 'minute',
    counts: "questions a credential, and a session's reads of its own conversations",
  },
  sessions: { points: 6000, per: 'minute', counts: 'support sessions minted a key' },
  visitors: {
    points: 60,
    per: 'minute',
    counts: 'visitors of an embedded chat never seen before, an organization and address',
  },
  messages: { points: 20, per: 'minute', counts: 'messages a support session, over the socket and REST together' },
  other_frames: {
    points: 30,
    per: 'minute',
    counts: 'frames of a support session other than messages, `typing` and `ping`',
  },
  connects: { points: 30, per: 'minute', counts: 'times that a support session may connect its sockets' },
  address_connects: {
    points: 600,
    per: 'minute',
    counts: 'connections of sockets from one address, whatever sessions they use',
  },
  address_messages: {
    points: 120,
    per: 'minute',
    counts:
      'messages of embedded chats (publishable key) an address, over all its visitors; those of minted sessions do not count',
  },
  digests: { points: 10, per: 'minute', counts: 'new summaries of meetings and extractions of their tasks an account' },
  audit_checks: { points: 10, per: 'minute', counts: 'checks of the audit a credential' },
  exports: { points: 300, per: 'minute', counts: "pages of customers' exported data a member" },
} as const satisfies Record<string, Rate>;

export type RateName = keyof typeof rates;
export const rateNames = Object.keys(rates) as RateName[];

/** The name of a rate limit in LIMITS, such as `sign_in_per_minute`. */
export const rateLimit = (name: RateName): string => `${name}_per_${rates[name].per}`;

/** The window of a rate limit, in seconds. */
export const rateSeconds = (name: RateName): number => secondsOf[rates[name].per];
