/** Routes of an organization's tasks. Every member may read, change and execute them. */
import { member } from '../../access/auth.ts';
import * as contract from '../contract/tasks.ts';
import { defaultLimit, placedListPage } from '../../http/cursor.ts';
import { route } from '../../http/route.ts';
import { execute, viewResult } from '../execution.ts';
import { review } from '../review.ts';
import { byMember, carriedOut, checkSession, foundTask, placeAfter, placeOf, present, viewTask } from '../task.ts';
import { changeTask, countTasks, createTask, listTasks, removeTask } from '../../../models/tasks/task.ts';
import { normalizeEmail } from '../../../models/rules/access/email.ts';
import { checkAssignee, checkLinking, dueDateOf, takenUpAgain } from '../../../models/rules/tasks/task.ts';
import { usualPriority } from '../../../models/rules/base/priority.ts';

export const taskRoutes = [
  route(contract.createTask, {
    summary: 'Create a task.',
    auth: member(),
    status: 201,
    async handle({ params: { orgId }, body, principal: { userId, org } }, ctx) {
      const memberIds = org.members.map(({ user_id }) => user_id);
      checkAssignee(body.assigned_to, memberIds);
      await checkSession(userId, body.session_id);
      const { due_date, priority, ...given } = body;
      const created = await createTask(
        {
          ...present(given),
          org_id: orgId,
          mode: org.environment === 'production' ? 'live' : 'test',
          priority: priority ?? usualPriority,
          ...(typeof due_date === 'string' ? { due_date: dueDateOf(due_date, ['body', 'due_date']) } : {}),
          email_execution_enabled: false,
          created_by: userId,
        },
        byMember(userId, ctx.clock()),
      );
      return viewTask(await carriedOut(ctx, created));
    },
  }),
  route(contract.listTasks, {
    summary: 'The tasks of the organization, the newest first.',
    auth: member(),
    async handle({ params: { orgId }, query }) {
      const limit = query.limit ?? defaultLimit;
      const filter = { status: query.status, assignedTo: query.assigned_to, sessionId: query.session_id };
      const after = placeAfter(query.cursor);
      const [found, count] = await Promise.all([
        listTasks([orgId], filter, limit + 1, after?.id),
        after?.count ?? countTasks(orgId, filter),
      ]);
      const { entries, cursor } = placedListPage(found, limit, ({ _id }) => placeOf(_id, count));
      return { tasks: entries.map(viewTask), count, cursor };
    },
  }),
  route(contract.getTask, {
    summary: 'One task with its history.',
    auth: member(),
    async handle({ params: { orgId, taskId } }) {
      return viewTask(await foundTask(orgId, taskId));
    },
  }),
  route(contract.updateTask, {
    summary: 'Change a task; what is left out stays, and null removes.',
    auth: member(),
    async handle({ params: { orgId, taskId }, body, principal: { userId, org } }, ctx) {
      const memberIds = org.members.map(({ user_id }) => user_id);
      const { due_date, assignee_email } = body;
      const asked = {
        ...body,
        ...(typeof due_date === 'string' ? { due_date: dueDateOf(due_date, ['body', 'due_date']) } : {}),
        ...(typeof assignee_email === 'string' ? { assignee_email: normalizeEmail(assignee_email) } : {}),
      };
      const standing = await foundTask(orgId, taskId);
      // Only a changed meeting or assignee is checked. A member may send a task back unchanged, although its meeting is
      // another member's or its assignee has left.
      if (body.session_id !== standing.session_id) await checkSession(userId, body.session_id);
      const changed = await changeTask(orgId, taskId, byMember(userId, ctx.clock()), (task) => {
        if (body.assigned_to !== task.assigned_to) checkAssignee(body.assigned_to, memberIds);
        checkLinking(task, body.session_id);
        return { ...asked, ...takenUpAgain(task, body, memberIds) };
      });
      return viewTask(await carriedOut(ctx, changed));
    },
  }),
  route(contract.deleteTask, {
    summary: 'Remove a task. What was made of it elsewhere stays there.',
    auth: member(),
    async handle({ params: { orgId, taskId }, principal: { userId } }, ctx) {
      await carriedOut(ctx, await removeTask(orgId, taskId, byMember(userId, ctx.clock())));
      return { task_id: taskId, deleted: true as const };
    },
  }),
  route(contract.reviewTask, {
    summary: 'What is missing or vague in a task, how it could be worded, and whether it can be executed.',
    auth: member(),
    limit: 'queries',
    async handle({ params: { orgId, taskId }, principal: { userId } }, ctx) {
      return review(ctx, orgId, taskId, userId);
    },
  }),
  route(contract.executeTask, {
    summary: 'Send a task to every connected service that applies; again, to those where that has not succeeded.',
    auth: member(),
    status: 202,
    errors: ['CONFLICT'],
    async handle({ params: { orgId, taskId }, principal: { userId } }, ctx) {
      return viewResult(await execute(ctx, orgId, taskId, userId));
    },
  }),
  route(contract.taskResult, {
    summary: 'What executions did: the issues that were made, and what was sent.',
    auth: member(),
    async handle({ params: { orgId, taskId } }) {
      return viewResult(await foundTask(orgId, taskId));
    },
  }),
];
