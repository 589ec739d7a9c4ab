/**
 * Has the issues that stand for a task say what the task says. What an issue is known to say is kept with its link, so that only
 * what changed here is sent, and what came from there does not go back.
 */
import { withHeartbeat } from '../base/heartbeat.ts';
import { toldOf } from './told.ts';
import { findOrganization } from '../../models/access/organization.ts';
import type { Link } from '../../models/events/link.ts';
import { findTaskWithLinks } from '../../models/tasks/task.ts';
import { DeliveryRefused } from '../../models/rules/events/delivery.ts';
import { isFinal } from '../../models/rules/tasks/execution.ts';
import type { Carry, IssueDeps } from '../../providers/base/issue.ts';
import { carryToGithub } from '../../providers/github/task.ts';
import { carryToLinear } from '../../providers/linear/task.ts';
import { defined } from '../../models/rules/base/defined.ts';

export type IssuesRef = { orgId: string; taskId: string };
/** `again`: an issue could not be changed now. `error`: at which service; what it said stands in the log of the worker. */
export type IssuesLeft = { again: boolean; error?: Link['provider']; retryAfterMs?: number };
export type IssueActivities = ReturnType<typeof createIssueActivities>;

const carriers: Partial<Record<Link['provider'], Carry>> = { linear: carryToLinear, github: carryToGithub };

export function createIssueActivities(deps: IssueDeps) {
  async function carry({ orgId, taskId }: IssuesRef, signal: AbortSignal): Promise<IssuesLeft> {
    // Read together: otherwise what an issue has just changed of the task looks like a change that the issue lacks.
    const [found, org] = await Promise.all([findTaskWithLinks(orgId, taskId), findOrganization(orgId)]);
    // In test mode nothing leaves.
    if (!found || org?.environment !== 'production') return { again: false };
    const { task, links } = found;
    const { told } = await toldOf(task);
    let left: IssuesLeft = { again: false };
    for (const link of links) {
      try {
        const to = carriers[link.provider];
        if (!to) continue;
        const known = link.known;
        if (await to({ link, known, task, told, deps, signal })) left = { ...left, again: true };
      } catch (error) {
        if (!(error instanceof DeliveryRefused)) throw error;
        const { message, refusal } = error;
        const { retryAfterMs } = refusal;
        deps.log.info(
          { org_id: orgId, task_id: taskId, provider: link.provider, reason: message },
          'issue not changed',
        );
        const again = left.again || !isFinal(refusal);
        left = { again, error: link.provider, ...defined({ retryAfterMs }) };
      }
    }
    return left;
  }

  return {
    /** Tells all issues of a task what changed since they were last told. */
    carryToIssues: (ref: IssuesRef) => withHeartbeat((signal) => carry(ref, signal)),
  };
}
