/** The commands of `tasks`: what people of an organization have to do. */
import type { z } from 'zod';
import { command, listing, type Noun } from '../described.ts';
import * as contract from '../../api/tasks/contract/tasks.ts';
import { taskResult } from '../../api/tasks/contract/taskexecution.ts';

const path = '/orgs/{orgId}/tasks';
const one = `${path}/{taskId}`;
const example = 'task_01M7YGT1Y2M8Q0Z6V3C4K5R7XA';

/** The columns of a list of tasks; also used for the tasks of one meeting. */
export const taskColumns = {
  TASK: (task) => task.task_id,
  STATUS: (task) => task.status,
  PRIORITY: (task) => task.priority,
  DUE: (task) => task.due_date,
  'ASSIGNED TO': (task) => task.assigned_to ?? task.assignee_email,
  TITLE: (task) => task.title,
} satisfies Record<string, (task: Task) => unknown>;
type Task = z.infer<typeof contract.taskList>['tasks'][number];

export const tasks: Noun = {
  name: 'tasks',
  description: 'list, create, change, review and execute tasks',
  commands: [
    listing({
      name: 'list',
      description: 'list tasks, newest first',
      examples: ['list --status pending'],
      route: `GET ${path}`,
      login: true,
      query: contract.listQuery,
      reply: contract.taskList,
      entries: 'tasks',
      columns: taskColumns,
      none: 'There are no such tasks.',
    }),
    command({
      name: 'show',
      description: 'show a task with its history',
      examples: [`show ${example}`],
      route: `GET ${one}`,
      login: true,
      reply: contract.taskRecord,
    }),
    command({
      name: 'create',
      description: 'create a task',
      examples: ['create "Order new cards" --priority high --due-date 2030-01-31'],
      route: `POST ${path}`,
      login: true,
      args: { title: 'what has to be done' },
      body: contract.createTaskBody,
      reply: contract.taskRecord,
      lines: ({ task_id, title }) => [`Created ${task_id}  ${title}`],
    }),
    command({
      name: 'update',
      description: 'change what is named; the rest stays',
      examples: [`update ${example} --status completed`, `update ${example} --assigned-to none`],
      route: `PUT ${one}`,
      login: true,
      body: contract.updateTaskBody,
      reply: contract.taskRecord,
    }),
    command({
      name: 'rm',
      description: 'delete a task',
      examples: [`rm ${example}`],
      route: `DELETE ${one}`,
      login: true,
      reply: contract.taskRemovedReply,
      lines: ({ task_id }) => [`Deleted ${task_id}`],
    }),
    command({
      name: 'review',
      description: 'what is missing or vague in a task, a better wording, and whether it can be executed',
      examples: [`review ${example}`],
      route: `POST ${one}/lira-review`,
      login: true,
      reply: contract.taskReview,
    }),
    command({
      name: 'execute',
      description: 'carry a task out with the connected services: an issue, a message, a mail',
      examples: [`execute ${example}`],
      route: `POST ${one}/execute`,
      login: true,
      reply: taskResult,
    }),
    command({
      name: 'result',
      description: 'what the last execution of a task did',
      examples: [`result ${example}`],
      route: `GET ${one}/result`,
      login: true,
      reply: taskResult,
    }),
  ],
};
