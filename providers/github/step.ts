/**
 * Creates a GitHub issue for a task. GitHub supports no idempotency key for new issues. After an attempt that may have
 * succeeded, a retry therefore searches the newer issues for one that names the task.
 */
import { connection, guarded } from '../base/connected.ts';
import type { StepCall, StepSender } from '../base/step.ts';
import type { GithubCredentials } from './connect.ts';
import { findIntegration, type Integration } from '../../models/integrations/integration.ts';
import { createLink, noteIssue } from '../../models/events/link.ts';
import { githubIssueExternal } from './rules.ts';
import type { IssueFacts } from '../../models/rules/tasks/issues.ts';
import { issueText, issueTitle, taskMark, type TaskTold } from '../../models/rules/tasks/tasktext.ts';
import type { Task } from '../../models/tasks/task.ts';

/** The content that the issue must have. */
export const githubFacts = (told: TaskTold, status: Task['status']): IssueFacts => ({
  title: issueTitle(told),
  text: issueText(told, { fields: true }),
  status,
});

const textOf = ({ told, task }: StepCall) => {
  const { title, text } = githubFacts(told, task.status);
  return { title, body: text };
};

/** The tolerance for clock differences between GitHub and this system, in ms. */
const clockGithubMs = 120_000;

const repositoryOf = (integration: Integration | null): string => String(integration?.settings['repository']);

export const github: StepSender = {
  destination: async ({ task }) => `GitHub ${repositoryOf(await findIntegration(task.org_id, 'github'))}`,

  async preview(call, deps) {
    const repository = repositoryOf(await findIntegration(call.task.org_id, 'github'));
    const { url, headers, body } = deps.github.request(repository, textOf(call));
    return { method: 'POST', url, headers: { ...headers, authorization: 'Bearer' }, body };
  },

  async send(call, deps, signal) {
    const { task, step, told, mode, again } = call;
    const { integration, credentials } = await connection(task.org_id, 'github', deps);
    const repository = repositoryOf(integration);
    const { token } = credentials as GithubCredentials;
    return guarded({ integration, deps, signal }, async () => {
      const since = new Date((step.first_at ?? deps.clock()).getTime() - clockGithubMs);
      const before = again
        ? await deps.github.findByMark(token, repository, taskMark(task._id), since, signal)
        : undefined;
      const issue = before ?? (await deps.github.createIssue(token, repository, textOf(call), signal));
      const linked = await createLink({
        org_id: task.org_id,
        mode,
        provider: 'github',
        external: githubIssueExternal(integration.workspace ?? '', issue.number),
        kind: 'task',
        subject_id: task._id,
        created_at: deps.clock(),
      });
      // A new issue is open, whatever the task's status is, so its status is noted as `pending`. If an earlier attempt
      // created the issue, the issue's own title and text are noted. A change of the task since then is sent when the
      // execution ends.
      const older = before && { title: before.title, text: before.body ?? '' };
      await noteIssue(linked, { ...githubFacts(told, 'pending'), ...older });
      return { result: { id: String(issue.number), url: issue.html_url } };
    });
  },
};
