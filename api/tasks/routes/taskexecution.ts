/** Routes that execute tasks, that is, create issues and messages for them in other services. */
import { member } from '../../access/auth.ts';
import * as contract from '../contract/taskexecution.ts';
import { route } from '../../http/route.ts';
import { execute, viewResult } from '../execution.ts';
import { noTask } from '../task.ts';
import { findTask } from '../../../models/tasks/task.ts';

const one = '/orgs/{orgId}/tasks/{taskId}';

export const taskExecutionRoutes = [
  route('executeTask', `POST ${one}/execute`, {
    summary: 'Send a task to every connected service that applies; again, to those where that has not succeeded.',
    auth: member(),
    status: 202,
    reply: contract.taskResult,
    errors: ['CONFLICT'],
    async handle({ params: { orgId, taskId }, principal: { userId } }, ctx) {
      return viewResult(await execute(ctx, orgId, taskId, userId));
    },
  }),
  route('taskResult', `GET ${one}/result`, {
    summary: 'What executions did: the issues that were made, and what was sent.',
    auth: member(),
    reply: contract.taskResult,
    async handle({ params: { orgId, taskId } }) {
      const task = await findTask(orgId, taskId);
      if (!task) throw noTask();
      return viewResult(task);
    },
  }),
];
