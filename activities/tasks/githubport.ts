/** What events of a task's issue in GitHub do to the task. */
import { follow } from './follow.ts';
import type { GithubPort } from '../events/inbound/github.ts';
import { changeByGithub } from '../../models/rules/tasks/issues.ts';
import { taskBounds } from '../../models/rules/tasks/task.ts';

export const taskGithubPort: GithubPort = {
  async stands(link, issue, deps) {
    const news = changeByGithub(issue, link.known);
    if (!news.moves && !news.renamed) return { ignored: 'How the issue stands is known already.' };
    const said = { source: 'github' as const, note: 'Changed in GitHub.', outcome: 'The task took over the change.' };
    return follow(link, said, deps, (task) => {
      const change = news.changeOf(task, taskBounds.title);
      const facts = {
        ...(news.renamed ? { title: issue.title } : {}),
        ...(change.status === undefined ? {} : { status: change.status }),
      };
      return { change, facts };
    });
  },

  removed: (link, deps) =>
    follow(
      link,
      {
        source: 'github',
        note: 'The issue was removed in GitHub.',
        outcome: 'The issue is gone; a task that was not completed is cancelled.',
      },
      deps,
      ({ status }) => ({ change: status === 'completed' ? {} : { status: 'cancelled' }, facts: {} }),
    ),
};
