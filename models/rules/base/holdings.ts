/**
 * Says for each collection whether it holds personal data or content that a removal must delete. Only a collection that
 * is listed here can be defined (`Collection`). Pure.
 */

/**
 * `own`: records of a meeting, task, customer, document or interview, deleted with it. `{ by }`: copies of its content,
 * such as a notification with a meeting's title; the field `by` of each record names the owner, and `eraseCopies`
 * (models/base/copies.ts) deletes them. `ids`: only ids, numbers, times and hashes, which may stay. `none`: no such
 * data.
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
  // Frames of conversations with customers and of interview rooms, deleted by stream.
  frames: 'own',
  // The wording of a question is deleted with the last customer who asked it.
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
  // The id of each document or page that could not be copied to live mode, with a fixed sentence.
  live_copies: 'ids',
  // Keyed hashes of the addresses whose owners objected to mail, kept so that no more mail is sent to them.
  mail_objections: 'ids',
  presences: 'ids',
  removals: 'ids',
  task_extractions: 'ids',
  // Hash chain over tool calls with hashes of their arguments; deleting an event would break the chain.
  tool_audit: 'ids',
  tool_audit_checkpoints: 'ids',

  allowances: 'none',
  canned_replies: 'none',
  crawl_frontier: 'none',
  crawls: 'none',
  departures: 'none',
  destinations: 'none',
  embed_secrets: 'none',
  integration_candidates: 'none',
  integrations: 'none',
  invitations: 'none',
  keys: 'none',
  leases: 'none',
  one_time_states: 'none',
  operations: 'none',
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
  widgets: 'none',
} as const satisfies Readonly<Record<string, Holding>>;

export type Collection = keyof typeof holdings;

/** The collections that hold copies, with the field that names the owner of each copy. */
export const copies: readonly { collection: Collection; by: string }[] = Object.entries(holdings).flatMap(
  ([collection, holding]) =>
    typeof holding === 'object' ? [{ collection: collection as Collection, by: holding.by }] : [],
);

/** The distinct ids in a text that name records whose content may have copies. */
export const idsIn = (text: string): string[] => [
  ...new Set(text.match(/\b(?:mtg|task|cus|conv|doc|int)_[0-9A-HJKMNP-TV-Z]{26}\b/g)),
];
