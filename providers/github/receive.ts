/**
 * Handles events of GitHub's issues and updates the task linked to the issue. An event only says that something
 * happened; the issue's current state is read from GitHub. So late or reordered events do no harm.
 */
import { z } from 'zod';
import type { Handled, Starter } from '../base/handled.ts';
import type { SenderDeps } from '../base/sender.ts';
import { jsonOf, understood } from '../base/understood.ts';
import { breakConnection } from '../base/broken.ts';
import type { GithubCredentials } from './connect.ts';
import { GithubError, type GithubIssue } from './client.ts';
import { noteAbout, type Inbound } from '../../models/events/inbound.ts';
import { credentialsOf, findConnection } from '../../models/integrations/integration.ts';
import { findLink, noteRemoved, type Link } from '../../models/events/link.ts';
import { githubIssueExternal, numberOfIssue } from './rules.ts';

/** How a task follows the state of its issue. Each function may be called again for the same event. */
export type GithubPort = {
  stands(link: Link, issue: GithubIssue, deps: GithubDeps): Promise<Handled>;
  removed(link: Link, deps: GithubDeps): Promise<Handled>;
};
export type GithubDeps = Starter & Pick<SenderDeps, 'github' | 'secrets' | 'clock' | 'log'>;

const issueEvent = z.object({
  repository: z.object({ id: z.int().positive() }),
  issue: z.object({ number: z.int().positive(), pull_request: z.unknown().optional() }),
});

export async function handleGithub(
  port: GithubPort,
  inbound: Inbound,
  deps: GithubDeps,
  signal: AbortSignal,
): Promise<Handled> {
  if (!inbound.type.startsWith('issues.')) return { ignored: 'Only events of issues are followed.' };
  const { repository, issue: about } = understood(issueEvent, jsonOf(inbound.body));
  if (about.pull_request !== undefined) return { ignored: 'Pull requests are not followed.' };
  const external = githubIssueExternal(String(repository.id), about.number);
  const link = await findLink('github', external);
  if (!link || link.org_id !== inbound.org_id || link.kind !== 'task')
    return { ignored: 'Nothing here is linked to this issue.' };
  await noteAbout(inbound._id, link.about);
  if (link.removed_at) return { ignored: 'The issue was removed before.' };
  const issue = await issueAt(link, deps, signal);
  if (issue === 'unasked') return { ignored: 'The repository of this issue is not connected.' };
  if (issue) return port.stands(link, issue, deps);
  const handled = await port.removed(link, deps);
  await noteRemoved(link._id, deps.clock());
  return handled;
}

/**
 * Reads the linked issue from GitHub; null when the issue was deleted, `unasked` when its repository is not connected.
 * @throws GithubError, also while the connection is broken: the event is then retried, so it is not lost if the
 * repository is connected again in time.
 */
async function issueAt(link: Link, deps: GithubDeps, signal: AbortSignal): Promise<GithubIssue | 'unasked' | null> {
  const integration = await findConnection(link.org_id, 'github');
  if (!integration) return 'unasked';
  const number = numberOfIssue(link.external);
  // If another repository was connected after the issue was linked, this number names a different issue there.
  if (link.external !== githubIssueExternal(integration.workspace ?? '', number)) return 'unasked';
  if (integration.status !== 'connected')
    throw new GithubError('GitHub has to be connected again.', { unauthorized: true });
  const { token } = credentialsOf(integration, deps.secrets) as GithubCredentials;
  const repository = String(integration.settings['repository']);
  try {
    return await deps.github.issue(token, repository, number, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof GithubError)) throw error;
    if (error.deleted) return null;
    if (error.unauthorized) await breakConnection(integration, error.message, deps);
    throw error;
  }
}
