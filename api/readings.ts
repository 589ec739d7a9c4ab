/**
 * Gauges for `/metrics` about the work that waits in the whole deployment. They are read at a scrape: from MongoDB at
 * most twice a second, from Temporal at most twice a minute, and the organizations near a quota at most every five
 * minutes. Each API process reports the same values, so take the maximum over processes.
 */
import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { Reading } from './http/metrics.ts';
import type { Config } from '../config.ts';
import { cached } from '../models/base/cached.ts';
import { countWaitingIntents } from '../models/base/pending.ts';
import { countEscalated } from '../models/chat/conversation.ts';
import { countPassagesLacking } from '../models/knowledge/embedding.ts';
import { countNearQuota } from '../models/knowledge/nearquota.ts';
import { queues } from '../models/rules/base/work.ts';
import { features } from '../models/rules/knowledge/quota.ts';
import { situations } from '../workflows/base/situations.ts';

/** How long a value that was read from Temporal is reused, in ms. */
const keptMs = 30_000;
/** How long the count of organizations near a quota is reused, in ms, because counting walks through whole indexes. */
const nearKeptMs = 5 * 60_000;
/** The most time that one call to Temporal may take, in ms. */
const deadlineMs = 2_000;
const { TASK_QUEUE_TYPE_ACTIVITY: activity, TASK_QUEUE_TYPE_WORKFLOW: workflow } =
  proto.temporal.api.enums.v1.TaskQueueType;

type Deps = {
  temporal: Client;
  config: Pick<Config, 'quotas' | 'taskQueuePrefix' | 'temporalNamespace'>;
  clock: () => Date;
  /** The name of the embedding model; undefined when there is none. */
  model: () => string | undefined;
};

export function readings({ temporal, config, clock, model }: Deps): Reading[] {
  const ask = <T>(call: () => Promise<T>): Promise<T> => temporal.withDeadline(Date.now() + deadlineMs, call);
  const escalated = cached(countEscalated);
  const backlog = cached(
    async () =>
      Promise.all(
        Object.values(queues).map(async (fleet) => {
          const stats = await Promise.all(
            [activity, workflow].map(async (taskQueueType) => {
              const { stats: read } = await ask(() =>
                temporal.workflowService.describeTaskQueue({
                  namespace: config.temporalNamespace,
                  taskQueue: { name: `${config.taskQueuePrefix}${fleet}` },
                  taskQueueType,
                  reportStats: true,
                }),
              );
              return {
                tasks: Number(read?.approximateBacklogCount ?? 0),
                age: Number(read?.approximateBacklogAge?.seconds ?? 0),
              };
            }),
          );
          return {
            fleet,
            tasks: stats.reduce((sum, { tasks }) => sum + tasks, 0),
            age: Math.max(...stats.map(({ age }) => age)),
          };
        }),
      ),
    { ttlMs: keptMs },
  );
  // One count for each entry of `situations`. The counts run one after the other, because Temporal limits the number of
  // counts per second.
  const counted = cached(
    async () => {
      const found: { labels: { situation: string }; value: number }[] = [];
      for (const { name, query } of situations) {
        const { count } = await ask(() => temporal.workflow.count(query(clock())));
        found.push({ labels: { situation: name }, value: count });
      }
      return found;
    },
    { ttlMs: keptMs },
  );
  const passages = cached(async () => {
    const embedding = model();
    return embedding === undefined ? 0 : countPassagesLacking(embedding);
  });
  const intents = cached(() => countWaitingIntents(new Date(clock().getTime() - 60_000)));
  const near = cached(
    () =>
      Promise.all(
        features.map(async (quota) => ({ labels: { quota }, value: await countNearQuota(config.quotas, quota) })),
      ),
    { ttlMs: nearKeptMs },
  );
  const one = async (value: Promise<number>) => [{ value: await value }];
  return [
    {
      name: 'knowledge_passages_to_embed',
      help: 'Passages of all organizations that are found by their words alone as yet; counted up to 10,000 documents and as many pages.',
      labels: [],
      read: () => one(passages()),
    },
    {
      name: 'conversations_escalated',
      help: 'Conversations of live mode that wait for a person.',
      labels: [],
      read: () => one(escalated().then(({ waiting }) => waiting)),
    },
    {
      name: 'conversations_escalated_oldest_seconds',
      help: 'How long the oldest of them has waited.',
      labels: [],
      read: () => one(escalated().then(({ since }) => (since ? (clock().getTime() - since.getTime()) / 1000 : 0))),
    },
    {
      name: 'intents_waiting',
      help: 'Saved work whose workflow was not started within a minute.',
      labels: [],
      read: () => one(intents()),
    },
    {
      name: 'organizations_near_quota',
      help: 'Organizations that hold 80 % of the quota or more; at most five minutes old.',
      labels: ['quota'],
      read: near,
    },
    {
      name: 'workflows_in_situation',
      help: 'Workflows in each situation of docs/operating.md.',
      labels: ['situation'],
      read: counted,
    },
    {
      name: 'task_queue_backlog_tasks',
      help: 'Tasks that wait for a worker of the fleet, about.',
      labels: ['fleet'],
      read: async () => (await backlog()).map(({ fleet, tasks }) => ({ labels: { fleet }, value: tasks })),
    },
    {
      name: 'task_queue_backlog_age_seconds',
      help: 'How long the oldest of them has waited, about.',
      labels: ['fleet'],
      read: async () => (await backlog()).map(({ fleet, age }) => ({ labels: { fleet }, value: age })),
    },
  ];
}
