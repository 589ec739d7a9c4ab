/** The task queues: one a worker fleet, so that each fleet is scaled by itself. */
export const queues = {
  documents: 'documents',
  sources: 'sources',
  crawl: 'crawl',
  conversations: 'conversations',
  maintenance: 'maintenance',
} as const;
export type Queue = (typeof queues)[keyof typeof queues];
