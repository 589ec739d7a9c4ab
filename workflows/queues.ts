/** The task queues: one per worker fleet, so that each fleet is scaled separately. */
export const queues = {
  documents: 'documents',
  sources: 'sources',
  crawl: 'crawl',
  conversations: 'conversations',
  maintenance: 'maintenance',
} as const;
export type Queue = (typeof queues)[keyof typeof queues];
