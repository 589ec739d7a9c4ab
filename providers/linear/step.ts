/**
 * Creates a Linear issue for a task. The issue's id is derived from the task's id, so that a retry creates no second
 * issue.
 */
import { connection, guarded } from '../base/connected.ts';
import type { StepCall, StepSender } from '../base/step.ts';
import type { LinearCredentials } from './connect.ts';
import { issueIdOf, makeIssue, requestOf, teamOf } from './issue.ts';
import { documents } from './client.ts';
import { findIntegration, type Integration } from '../../models/integrations/integration.ts';
import { createLink, noteIssue, noteState } from '../../models/events/link.ts';
import { dueDay } from '../../models/rules/base/due.ts';
import type { IssueFacts } from '../../models/rules/tasks/issues.ts';
import { issueText, issueTitle, linearPriority, taskMark, type TaskTold } from '../../models/rules/tasks/tasktext.ts';
import type { Task } from '../../models/tasks/task.ts';
import { defined } from '../../models/rules/base/defined.ts';

/** The content that the issue must have. */
export const linearFacts = (told: TaskTold, status: Task['status']): Required<IssueFacts> => ({
  title: issueTitle(told),
  text: issueText(told, { fields: false }),
  priority: linearPriority[told.priority],
  due: dueDay(told) ?? null,
  status,
});

function inputOf({ task, told }: StepCall, integration: Integration | null) {
  const { title, text, priority, due } = linearFacts(told, task.status);
  return {
    id: issueIdOf(task._id, integration),
    teamId: String(integration?.settings['team_id']),
    title,
    description: text,
    priority,
    ...(due === null ? {} : { dueDate: due }),
  };
}

export const linear: StepSender = {
  destination: async ({ task }) => teamOf(await findIntegration(task.org_id, 'linear')),

  async preview(call, deps) {
    const integration = await findIntegration(call.task.org_id, 'linear');
    const input = inputOf(call, integration);
    return requestOf(deps.linear, { query: documents.createIssue, variables: { input } });
  },

  async send(call, deps, signal) {
    const { task, told, mode, again } = call;
    const { integration, credentials } = await connection(task.org_id, 'linear', deps);
    const link = (external: string) =>
      createLink({
        org_id: task.org_id,
        mode,
        provider: 'linear',
        external,
        ...defined({ workspace: integration.workspace }),
        kind: 'task',
        subject_id: task._id,
        created_at: deps.clock(),
      });
    return guarded({ integration, deps, signal }, async () => {
      const { issue, isNew } = await makeIssue({
        linear: deps.linear,
        key: (credentials as LinearCredentials).api_key,
        input: inputOf(call, integration),
        mark: taskMark(task._id),
        again,
        link,
        signal,
      });
      const linked = await link(issue.id);
      // A new issue has the team's initial state, whatever the task's status is, so its status is noted as `pending`.
      // If an earlier attempt created the issue, the issue's own fields are noted. A change of the task since then is
      // sent when the execution ends.
      const { title, description, priority, dueDate: due } = issue;
      const older = { title, text: description ?? '', priority, due, status: 'pending' } as const;
      await noteIssue(linked, isNew ? linearFacts(told, 'pending') : older);
      await noteState(linked, { stateId: issue.state.id });
      return { result: { id: issue.identifier, url: issue.url } };
    });
  },
};
