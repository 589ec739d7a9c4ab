/**
 * Describes how a workflow is started: its task queue, id, arguments and signal. Each workflow has one function that
 * makes this description, `<workflow>Work` in `models/rules/<slice>/work.ts`. Workflow ids are made only in these
 * functions. Pure.
 */

/** The task queues. Each worker fleet has one queue, so that each fleet is scaled separately. */
export const queues = {
  documents: 'documents',
  backlog: 'backlog',
  sources: 'sources',
  embedding: 'embedding',
  crawl: 'crawl',
  conversations: 'conversations',
  tools: 'tools',
  deliveries: 'deliveries',
  /** The queue for slow deliveries, which must not delay other deliveries: see decision 95. */
  slowdeliveries: 'slowdeliveries',
  interviews: 'interviews',
  inbound: 'inbound',
  tasks: 'tasks',
  maintenance: 'maintenance',
} as const;
export type Queue = keyof typeof queues;

/** How a workflow is started. The field names must not change, because stored records and workflow code use them. */
export type Work<Name extends string = string, Args extends unknown[] = unknown[], Signal extends string = string> = {
  workflow: Name;
  /**
   * The workflow id: `<noun>:<id>` or `<noun>:<id>:<generation>`. Equal work has equal ids, so Temporal starts it only
   * once.
   */
  id: string;
  queue: Queue;
  args: Args;
  /**
   * The signal to send to the open workflow with this id; when none is open, a new workflow is started and receives the
   * signal. Without a signal the workflow is started once.
   */
  signal?: Signal;
  /**
   * The workflow task timeout: after this time Temporal gives a task of a dead worker to another worker. Default: 10 s.
   */
  taskTimeoutMs?: number;
};

/**
 * The workflow task timeout of workflows that a customer waits for, in ms. It is shorter than the default, so that a
 * dead worker delays the customer less. The steps of an answer run within the workflow task (workflows/base/intask.ts).
 */
export const customerTaskTimeoutMs = 5_000;

/**
 * Describes how a workflow is started. The result keeps the literal names and argument types, so that the compiler
 * compares them with the workflow function in test/workflows/work.test.ts.
 */
export const workOf = <Name extends string, Args extends [unknown?], Signal extends string = never>(
  workflow: Name,
  queue: Queue,
  id: string,
  args: Args,
  signal?: Signal,
  taskTimeoutMs?: number,
): Work<Name, Args, Signal> => ({
  workflow,
  id,
  queue,
  args,
  ...(signal === undefined ? {} : { signal }),
  ...(taskTimeoutMs === undefined ? {} : { taskTimeoutMs }),
});

/**
 * The full name of `queue` in the deployment of a workflow. All queues of one deployment share a prefix: the workflow's
 * `taskQueue` is this prefix followed by `own`. When `taskQueue` has another form, the result is `taskQueue`.
 */
export const queueBeside = (taskQueue: string, own: Queue, queue: Queue): string =>
  taskQueue.endsWith(own) ? `${taskQueue.slice(0, -own.length)}${queue}` : taskQueue;
