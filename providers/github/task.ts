/**
 * Synchronizes a task with its GitHub issue. The link stores the last known content of the issue. So only changes made
 * in this system are sent to the issue, and changes that came from GitHub are not sent back.
 */
import { GithubError } from './client.ts';
import type { GithubCredentials } from './connect.ts';
import type { GithubPort } from './receive.ts';
import { githubIssueExternal, numberOfIssue } from './rules.ts';
import { githubFacts } from './step.ts';
import { follow, removedIn } from '../base/follow.ts';
import type { Carry } from '../base/issue.ts';
import { connection, refusal } from '../base/connected.ts';
import { noteIssue, noteRemoved } from '../../models/events/link.ts';
import { changeByGithub, differing, githubState, noteOf } from '../../models/rules/tasks/issues.ts';
import { defined } from '../../models/rules/base/defined.ts';

export const carryToGithub: Carry = async ({ link, known, task, told, deps, signal }) => {
  const { news, held } = differing(githubFacts(told, task.status), known, deps.clock());
  if (Object.keys(news).length === 0) return held;
  const { title, text, status } = news;
  const state = githubState(task.status);
  const said = [known?.status, known?.sending?.status].filter((one) => one !== undefined);
  const moves =
    status !== undefined &&
    (known?.status === undefined || state.state === 'closed' || said.some((one) => githubState(one).state !== 'open'));
  const change = {
    ...defined({ title, body: text }),
    ...(moves ? state : {}),
  };
  if (Object.keys(change).length > 0) {
    const { integration, credentials } = await connection(task.org_id, 'github', deps);
    const { token } = credentials as GithubCredentials;
    const number = numberOfIssue(link.external);
    // If another repository was connected after the issue was linked, this number names a different issue there.
    if (link.external !== githubIssueExternal(integration.workspace ?? '', number)) return false;
    try {
      await noteIssue(link._id, noteOf(news, known));
      await deps.github.updateIssue(token, String(integration.settings['repository']), number, change, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof GithubError)) throw error;
      if (!error.deleted) throw await refusal(error, integration, deps);
      await noteRemoved(link._id, deps.clock());
      return false;
    }
  }
  await noteIssue(link._id, { ...news, sending: null });
  return held;
};

/** How events of a linked issue change the task. */
export const taskGithubPort: GithubPort = {
  async stands(link, issue, deps) {
    const news = changeByGithub(issue, link.known);
    if (!news.moves && !news.renamed) return { ignored: 'How the issue stands is known already.' };
    const said = { source: 'github' as const, note: 'Changed in GitHub.', outcome: 'The task took over the change.' };
    return follow(link, said, deps, (task) => {
      const change = news.changeOf(task);
      const facts = {
        ...(news.renamed ? { title: issue.title } : {}),
        ...defined({ status: change.status }),
      };
      return { change, facts };
    });
  },

  removed: removedIn('github'),
};
