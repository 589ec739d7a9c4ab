import { conversationWork } from '../models/rules/chat/work.ts';
import { deliveryWork, slowQueue } from '../models/rules/events/work.ts';
import { inboundWork } from '../models/rules/events/inbound.ts';
import { tasksQueue } from '../models/rules/tasks/execution.ts';
import { toolCallWork } from '../models/rules/mcp/work.ts';
import { embeddingWork } from '../models/rules/knowledge/embedding.ts';

/** The task queues: one per worker fleet, so that each fleet is scaled separately. */
export const queues = {
  documents: 'documents',
  backlog: 'backlog',
  sources: 'sources',
  embedding: embeddingWork.queue,
  crawl: 'crawl',
  conversations: conversationWork.queue,
  tools: toolCallWork.queue,
  deliveries: deliveryWork.queue,
  slowdeliveries: slowQueue,
  interviews: 'interviews',
  inbound: inboundWork.queue,
  tasks: tasksQueue,
  maintenance: 'maintenance',
} as const;
export type Queue = (typeof queues)[keyof typeof queues];

/** The queue's name in the system of a workflow that runs on `own`: queues of one system share a prefix. */
export const queueBeside = (taskQueue: string, own: Queue, queue: Queue): string =>
  taskQueue.endsWith(own) ? `${taskQueue.slice(0, -own.length)}${queue}` : taskQueue;
