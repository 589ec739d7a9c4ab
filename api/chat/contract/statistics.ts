import { z } from 'zod';
import { moment, timestamp } from '../../base/contract/common.ts';
import { statisticsBy } from '../../../models/rules/chat/statistics.ts';
import { operation } from '../../base/contract/operation.ts';

const statisticsQuery = z.object({
  from: moment.optional().meta({ description: 'Conversations that began from then on; 30 days before `until`.' }),
  until: moment.optional().meta({ description: 'And before then; now unless told.' }),
  by: z.enum(statisticsBy).optional().meta({ description: 'Adds the numbers of each day (UTC), assignee or tag.' }),
});

const count = z.number().int();
const spread = z.object({
  median: z.number().nullable(),
  p90: z.number().nullable().meta({ description: 'Nine of ten are at most this.' }),
});
const waits = {
  first_response_seconds: spread.meta({ description: 'From the first call for a person to the first reply of one.' }),
  resolution_seconds: spread.meta({ description: 'From the begin to the end, of those that are resolved.' }),
};
const numbers = z.object({
  conversations: count.meta({ description: 'That began in this time and have a message.' }),
  escalated: count.meta({ description: 'For which a person was called.' }),
  deflected: count.meta({
    description: 'Answered by the agent without a person being called or replying, and resolved or quiet for a day.',
  }),
  resolved: count.meta({ description: 'That are resolved now.' }),
  reopened: count.meta({ description: 'That went on after they were resolved.' }),
  ...waits,
  within_hours: z
    .object(waits)
    .nullable()
    .meta({ description: 'The same, of which only the team’s hours count. Null for a team without hours.' }),
  csat: z.object({ count, average: z.number().nullable() }),
});
const statisticsReply = z.object({
  from: timestamp,
  until: timestamp,
  total: numbers,
  groups: z.array(z.object({ group: z.string() }).extend(numbers.shape)),
});

export const getStatistics = operation('getStatistics', 'GET /support/stats/orgs/{orgId}', {
  query: statisticsQuery,
  reply: statisticsReply,
});
