/** Zod schemas of the requests and replies about executions of tasks. */
import { z } from 'zod';
import { id, orNull, timestamp } from '../../base/contract/common.ts';
import { stepIntegrations, stepStatuses } from '../../../models/rules/tasks/execution.ts';
import { executionStatuses } from '../../../models/rules/tasks/task.ts';

const step = z.object({
  integration: z.enum(stepIntegrations),
  status: z.enum(stepStatuses).meta({
    description:
      '`skipped`: it does not apply; `error` says why. `suppressed`: test mode, or no mail server; what would have been sent is a delivery. `failed` and `skipped` ones are taken up by the next execution.',
  }),
  attempts: z.number().int().meta({ description: 'Of all executions of the task.' }),
  url: z.string().optional().meta({ description: 'The issue, or the message.' }),
  error: z
    .string()
    .optional()
    .meta({ description: 'Why it failed or was skipped; of a running one the last failure.' }),
  delivered_at: timestamp.optional(),
});

export const taskResult = z
  .object({
    task_id: id,
    execution_status: z.enum(executionStatuses).meta({
      description: '`failed`: a step failed, or none applied. What succeeded stays, and is not done again.',
    }),
    steps: z.array(step),
    executed_at: orNull(timestamp).meta({ description: 'When the last execution ended.' }),
  })
  .meta({ id: 'TaskResult' });
