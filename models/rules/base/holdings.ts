/**
 * Which collections hold data of meetings, tasks, customers, documents and interviews. A collection can be defined only
 * after it is listed here (`Collection`). Pure.
 */

/**
 * `own`: the thing itself or a part of it, which its removal deletes. `{ by }`: copies, such as a notification with a
 * meeting's title; this field of each record names the owner, and `eraseCopies` (models/base/copies.ts) deletes the
 * copies. `ids`: only ids, numbers, times and hashes, which stay. `none`: nothing.
 */
type Holding = 'own' | { by: string } | 'ids' | 'none';

export const holdings = {
  deliveries: { by: 'about' },
  idempotency: { by: 'about' },
  inbound: { by: 'about' },
  links: { by: 'about' },
  notifications: { by: 'about' },
  mail_threads: { by: 'customer_id' },
  tool_calls: { by: 'customer_id' },

  chunks: 'own',
  conversations: 'own',
  customers: 'own',
  documents: 'own',
  // Frames of customers and of interviews' rooms, deleted by stream.
  frames: 'own',
  // The words of a question are removed with the last customer who asked it.
  gaps: 'own',
  interviews: 'own',
  meetings: 'own',
  messages: 'own',
  resumes: 'own',
  rooms: 'own',
  sessions: 'own',
  tasks: 'own',
  transcript_segments: 'own',

  bot_reports: 'ids',
  embedding_work: 'ids',
  erasures: 'ids',
  // What could not be copied to live mode, by its id and with a fixed sentence.
  live_copies: 'ids',
  // Keyed hashes of addresses that objected to mail, so that they are not asked again.
  mail_objections: 'ids',
  presences: 'ids',
  removals: 'ids',
  task_extractions: 'ids',
  // Chained hashes of arguments: removing a link would break the chain.
  tool_audit: 'ids',
  tool_audit_checkpoints: 'ids',

  allowances: 'none',
  crawl_frontier: 'none',
  crawls: 'none',
  departures: 'none',
  destinations: 'none',
  embed_secrets: 'none',
  integration_candidates: 'none',
  integrations: 'none',
  invitations: 'none',
  keys: 'none',
  one_time_states: 'none',
  org_webhooks: 'none',
  organizations: 'none',
  page_links: 'none',
  pages: 'none',
  prunings: 'none',
  publishable_keys: 'none',
  recrawls: 'none',
  releases: 'none',
  signing_keys: 'none',
  socket_processes: 'none',
  support_configs: 'none',
  tool_discoveries: 'none',
  tool_grants: 'none',
  tool_rates: 'none',
  tool_servers: 'none',
  users: 'none',
} as const satisfies Readonly<Record<string, Holding>>;

export type Collection = keyof typeof holdings;

/** The collections of copies, each with the field that names whose they are. */
export const copies: readonly { collection: Collection; by: string }[] = Object.entries(holdings).flatMap(
  ([collection, holding]) =>
    typeof holding === 'object' ? [{ collection: collection as Collection, by: holding.by }] : [],
);

/** The ids in a text of things that may have copies, each once. */
export const idsIn = (text: string): string[] => [
  ...new Set(text.match(/\b(?:mtg|task|cus|conv|doc|int)_[0-9A-HJKMNP-TV-Z]{26}\b/g)),
];
