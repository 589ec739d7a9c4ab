/**
 * How a workflow is started: its task queue, and the form of every start. Each workflow has one function that makes its start,
 * `<workflow>Work` in `models/rules/<slice>/work.ts`; the ids of workflows are made there and nowhere else. Pure.
 */

/** One per worker fleet, so that each fleet is scaled separately. */
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

/** What starts a workflow, by the names that records and workflows share. */
export type Work<Name extends string = string, Args extends unknown[] = unknown[], Signal extends string = string> = {
  workflow: Name;
  /** `<noun>:<id>` or `<noun>:<id>:<generation>`, the same for the same work. */
  id: string;
  queue: Queue;
  args: Args;
  /**
   * The signal to send to the workflow that is open under this id, or to a new one. Without it the workflow is started
   * once.
   */
  signal?: Signal | undefined;
  /** How soon Temporal gives a task of the workflow to another worker when the first has died; by default 10 s. */
  taskTimeoutMs?: number;
};

/** Keeps the names and arguments in the type, so that the compiler holds them against the workflow: test/workflows/work.test.ts. */
export const workOf = <Name extends string, Args extends [unknown?], Signal extends string = never>(
  work: Work<Name, Args, Signal>,
): Work<Name, Args, Signal> => work;

/** The queue's name in the system of a workflow that runs on `own`: queues of one system share a prefix. */
export const queueBeside = (taskQueue: string, own: Queue, queue: Queue): string =>
  taskQueue.endsWith(own) ? `${taskQueue.slice(0, -own.length)}${queue}` : taskQueue;
