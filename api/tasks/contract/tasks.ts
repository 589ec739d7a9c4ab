import { z } from 'zod';
import { email } from '../../access/contract/auth.ts';
import { cursor, id, line, orNull, pageQuery, timestamp } from '../../base/contract/common.ts';
import { stepIntegrations, stepStatuses } from '../../../models/rules/tasks/execution.ts';
import { possibleReasons } from '../../../models/rules/interviews/found.ts';
import {
  executionStatuses,
  reviewStatuses,
  taskBounds,
  taskSources,
  taskStatuses,
} from '../../../models/rules/tasks/task.ts';
import { priorities, usualPriority } from '../../../models/rules/base/priority.ts';
import { operation } from '../../base/contract/operation.ts';

const dueDate = z
  .union([z.iso.date(), z.iso.datetime({ offset: true })], {
    error: 'must be an ISO 8601 date, or a date and time with a zone',
  })
  .meta({ description: 'A day, or a moment; a moment is given back in UTC.' });
const optional = {
  description: z.string().max(taskBounds.description).nullish(),
  assigned_to: id.nullish().meta({ description: 'The user id of a member.' }),
  priority: z
    .enum(priorities)
    .optional()
    .meta({ description: `\`${usualPriority}\` unless told.` }),
  task_type: line(taskBounds.type).nullish().meta({ description: 'Your own word for the kind of work.' }),
  due_date: dueDate.nullish(),
  session_id: id.nullish().meta({ description: 'A meeting of yours.' }),
};
const createTaskBody = z.strictObject({ title: line(taskBounds.title), ...optional });
const updateTaskBody = z.strictObject({
  title: line(taskBounds.title).optional(),
  ...optional,
  status: z.enum(taskStatuses).optional(),
  assignee_email: email
    .nullish()
    .meta({ description: 'Somebody outside the organization, to whom the task is mailed.' }),
  email_execution_enabled: z.boolean().optional().meta({ description: 'Whether executing the task may send mail.' }),
});

export const listQuery = pageQuery.extend({
  status: z.enum(taskStatuses).optional(),
  assigned_to: id.optional().meta({ description: 'A member’s user id.' }),
  session_id: id.optional().meta({ description: 'The meeting that they are linked to.' }),
});

const listed = {
  task_id: id,
  org_id: id,
  session_id: orNull(id),
  title: z.string(),
  description: orNull(z.string()),
  assigned_to: orNull(id),
  assignee_email: orNull(z.string()),
  priority: z.enum(priorities),
  task_type: orNull(z.string()),
  status: z.enum(taskStatuses),
  due_date: orNull(z.string()),
  source_quote: orNull(z.string()).meta({ description: 'What was said, word for word, of a task from a meeting.' }),
  email_execution_enabled: z.boolean(),
  execution_status: z.enum(executionStatuses),
  review_status: z.enum(reviewStatuses).meta({ description: 'Of the task as it is written now.' }),
  created_by: id,
  created_at: timestamp,
  updated_at: timestamp,
  completed_at: orNull(timestamp),
  external_links: z.array(z.object({ provider: z.string(), id: z.string(), url: z.string() })),
};
const taskItem = z.object(listed).meta({ id: 'TaskItem' });
export const taskList = z.object({
  tasks: z.array(taskItem),
  count: z.number().int().meta({ description: 'All that the filters let through, when the first page was read.' }),
  cursor,
});
const taskRecord = z
  .object({
    ...listed,
    history: z
      .array(
        z.object({
          at: timestamp,
          source: z.enum(taskSources).meta({ description: 'Who changed it: a member, a service, or the system.' }),
          actor: orNull(id).meta({ description: 'The member’s user id.' }),
          changed: z.array(z.string()).meta({ description: 'The fields; none of the creation.' }),
          note: orNull(z.string()),
        }),
      )
      .meta({ description: `The last ${taskBounds.history} changes, the oldest first.` }),
  })
  .meta({ id: 'Task' });
const taskRemovedReply = z.object({ task_id: id, deleted: z.literal(true) });

const finding = { field: z.string(), message: z.string() };
const taskReview = z
  .object({
    task_id: id,
    review_status: z.enum(reviewStatuses),
    missing: z.array(z.object(finding)),
    vague: z.array(
      z.object({
        ...finding,
        words: z.array(z.string()).meta({ description: 'Those that leave open what is meant.' }),
      }),
    ),
    suggestion: z.object({ title: z.string(), description: z.string() }),
    executable: z.boolean().meta({ description: 'Whether executing the task now would do anything.' }),
    blockers: z.array(z.string()).meta({ description: 'Why not.' }),
    steps: z.array(
      z.object({ integration: z.enum(stepIntegrations), applies: z.boolean(), reason: z.string().optional() }),
    ),
    generated_by: z.enum(['extractive', 'model']),
  })
  .meta({ id: 'TaskReview' });

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

const resultReply = z
  .object({
    task_id: id,
    execution_status: z.enum(executionStatuses).meta({
      description: '`failed`: a step failed, or none applied. What succeeded stays, and is not done again.',
    }),
    steps: z.array(step),
    executed_at: orNull(timestamp).meta({ description: 'When the last execution ended.' }),
  })
  .meta({ id: 'TaskResult' });

const extractBody = z.strictObject({ org_id: id.meta({ description: 'Whose tasks they become.' }) });
const extractReply = z.object({
  tasks: z
    .array(taskItem)
    .meta({ description: 'All that were extracted, now and before, in the order of the transcript.' }),
  count: z.number().int(),
  created: z.number().int().meta({ description: 'How many of them are new.' }),
  possible: z
    .array(z.object({ quote: z.string(), speaker: z.string(), reason: z.enum(possibleReasons) }))
    .meta({ description: 'What sounds like a task and is not firm, for a person to take. Nothing of it is stored.' }),
  generated_by: z.enum(['extractive', 'model']),
});
const sessionQuery = pageQuery.extend({
  org_id: id.optional().meta({ description: 'Without it: of every organization that you belong to.' }),
});

export const extractTasks = operation('extractTasks', 'POST /meetings/{sessionId}/extract-tasks', {
  body: extractBody,
  reply: extractReply,
});
export const listMeetingTasks = operation('listMeetingTasks', 'GET /meetings/{sessionId}/tasks', {
  query: sessionQuery,
  reply: taskList,
});
export const createTask = operation('createTask', 'POST /orgs/{orgId}/tasks', {
  body: createTaskBody,
  reply: taskRecord,
});
export const listTasks = operation('listTasks', 'GET /orgs/{orgId}/tasks', { query: listQuery, reply: taskList });
export const getTask = operation('getTask', 'GET /orgs/{orgId}/tasks/{taskId}', { reply: taskRecord });
export const updateTask = operation('updateTask', 'PUT /orgs/{orgId}/tasks/{taskId}', {
  body: updateTaskBody,
  reply: taskRecord,
});
export const deleteTask = operation('deleteTask', 'DELETE /orgs/{orgId}/tasks/{taskId}', { reply: taskRemovedReply });
export const reviewTask = operation('reviewTask', 'POST /orgs/{orgId}/tasks/{taskId}/lira-review', {
  reply: taskReview,
});
export const executeTask = operation('executeTask', 'POST /orgs/{orgId}/tasks/{taskId}/execute', {
  reply: resultReply,
});
export const taskResult = operation('taskResult', 'GET /orgs/{orgId}/tasks/{taskId}/result', { reply: resultReply });
