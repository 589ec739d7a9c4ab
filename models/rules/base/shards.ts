/**
 * The shard keys of the collections that grow with the customers of an organization. The compiler refuses a query that
 * names neither `org_id` nor `crawl_id` (`collectionOf`). So each query is sent only to the shards of one organization
 * or crawl. All other collections are small, or have keys that are unique across organizations, and stay on one shard.
 * Pure.
 */
import type { Collection } from './holdings.ts';

/** The shard keys, in the form of MongoDB's `sh.shardCollection`. A unique index must begin with the whole key. */
export const shardKeys = {
  conversations: { org_id: 1 },
  crawls: { org_id: 1 },
  customers: { org_id: 1 },
  deliveries: { org_id: 1 },
  documents: { org_id: 1 },
  mail_threads: { org_id: 1 },
  pages: { org_id: 1 },
  recrawls: { org_id: 1 },
  sessions: { org_id: 1 },
  tasks: { org_id: 1 },
  tool_audit: { org_id: 1 },
  tool_calls: { org_id: 1 },
  // An organization may have millions of chunks, frames or messages, so the longer key lets them be spread over several
  // shards.
  chunks: { org_id: 1, source_id: 1 },
  frames: { org_id: 1, stream: 1 },
  messages: { org_id: 1, conv_id: 1 },
  // Crawl ids grow with time, so the ids of all running crawls are near each other. Without hashing, they would all be
  // on one shard.
  crawl_frontier: { crawl_id: 'hashed' },
} as const satisfies Partial<Record<Collection, Readonly<Record<string, 1 | 'hashed'>>>>;
