/**
 * Says for each collection whether it holds personal data or content that a removal must delete. Only a collection that
 * is listed here can be defined (`Collection`). Pure.
 */

/**
 * `own`: the records belong to an owner (a meeting, task, customer, document or interview) and are deleted with the
 * owner. `{ by }`: the records are copies of an owner's content, for example a notification with a meeting's title. The
 * field named by `by` holds the owner's id, and `eraseCopies` (models/base/copies.ts) deletes the copies. `ids`: the
 * records hold only ids, numbers, times and hashes, which may stay. `none`: the records hold neither personal data nor
 * content of an owner.
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
  // Frames of conversations and interview rooms. All frames of one conversation or room have the same `stream` and are
  // deleted together.
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

  embedding_work: 'ids',
  erasures: 'ids',
  // Each record lists the ids of the documents and pages that could not be copied to live mode, each with a fixed
  // sentence as the reason.
  live_copies: 'ids',
  // Keyed hashes of the addresses whose owners objected to mail, kept so that no more mail is sent to them.
  mail_objections: 'ids',
  presences: 'ids',
  removals: 'ids',
  task_extractions: 'ids',
  // The events form a hash chain over tool calls and hold only hashes of their arguments. Deleting an event would break
  // the chain.
  tool_audit: 'ids',
  tool_audit_checkpoints: 'ids',

  allowances: 'none',
  canned_replies: 'none',
  crawl_frontier: 'none',
  crawls: 'none',
  departures: 'none',
  destinations: 'none',
  embed_secrets: 'none',
  errands: 'none',
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
  tool_rates: 'none',
  tool_servers: 'none',
  users: 'none',
  widgets: 'none',
} as const satisfies Readonly<Record<string, Holding>>;

export type Collection = keyof typeof holdings;

/** The collections that hold copies of other records' content. `by`: the field with the ids of these other records. */
export const copies: readonly { collection: Collection; by: string }[] = Object.entries(holdings).flatMap(
  ([collection, holding]) =>
    typeof holding === 'object' ? [{ collection: collection as Collection, by: holding.by }] : [],
);

/** The distinct ids in a text that name records whose content may have copies. */
export const idsIn = (text: string): string[] => [
  ...new Set(text.match(/\b(?:mtg|task|cus|conv|doc|int)_[0-9A-HJKMNP-TV-Z]{26}\b/g)),
];
