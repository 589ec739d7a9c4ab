/** The commands of `tasks`: what people of an organization have to do. */
import type { z } from 'zod';
import { command, listing, noun } from '../described.ts';
import * as contract from '../../api/tasks/contract/tasks.ts';

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

export const tasks = noun({
  name: 'tasks',
  description: 'list, create, change, review and execute tasks',
  login: true,
  example,
  commands: [
    listing({
      name: 'list',
      description: 'list tasks, newest first',
      examples: ['list --status pending'],
      does: contract.listTasks,
      entries: 'tasks',
      columns: taskColumns,
      none: 'There are no such tasks.',
    }),
    command({
      name: 'show',
      description: 'show a task with its history',
      does: contract.getTask,
    }),
    command({
      name: 'create',
      description: 'create a task',
      examples: ['create "Order new cards" --priority high --due-date 2030-01-31'],
      does: contract.createTask,
      args: { title: 'what has to be done' },
      lines: ({ task_id, title }) => [`Created ${task_id}  ${title}`],
    }),
    command({
      name: 'update',
      description: 'change what is named; the rest stays',
      examples: [`update ${example} --status completed`, `update ${example} --assigned-to none`],
      does: contract.updateTask,
    }),
    command({
      name: 'rm',
      description: 'delete a task',
      does: contract.deleteTask,
      lines: ({ task_id }) => [`Deleted ${task_id}`],
    }),
    command({
      name: 'review',
      description: 'what is missing or vague in a task, a better wording, and whether it can be executed',
      does: contract.reviewTask,
    }),
    command({
      name: 'execute',
      description: 'carry a task out with the connected services: an issue, a message, a mail',
      does: contract.executeTask,
    }),
    command({
      name: 'result',
      description: 'what the last execution of a task did',
      does: contract.taskResult,
    }),
  ],
});
