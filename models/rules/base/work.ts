/** The task queues: one per worker fleet, so that each fleet is scaled separately. Pure. */

export const queues = {
  documents: 'documents',
  backlog: 'backlog',
  sources: 'sources',
  embedding: 'embedding',
  crawl: 'crawl',
  conversations: 'conversations',
  tools: 'tools',
  deliveries: 'deliveries',
  /** Where deliveries go that must not hold up others: see decision 95. */
  slowdeliveries: 'slowdeliveries',
  interviews: 'interviews',
  inbound: 'inbound',
  tasks: 'tasks',
  maintenance: 'maintenance',
} as const;
export type Queue = keyof typeof queues;

/** The queue's name in the system of a workflow that runs on `own`: queues of one system share a prefix. */
export const queueBeside = (taskQueue: string, own: Queue, queue: Queue): string =>
  taskQueue.endsWith(own) ? `${taskQueue.slice(0, -own.length)}${queue}` : taskQueue;
