/**
 * Updates the issues of a task in other services after the task has changed. The last known content of an issue is
 * stored with its link. So only differences are sent, and changes that came from the issue are not sent back.
 */
import { cancellationSignal } from '@temporalio/activity';
import { toldOf } from './told.ts';
import { ServiceError } from '../../clients/http/serviceerror.ts';
import { notifyMembers } from '../../models/access/notification.ts';
import { findOrganization } from '../../models/access/organization.ts';
import type { Link } from '../../models/events/link.ts';
import { findTaskWithLinks, type Task } from '../../models/tasks/task.ts';
import { DeliveryRefused } from '../../models/rules/events/delivery.ts';
import { providerNames } from '../../models/rules/integrations/integration.ts';
import { isFinal } from '../../models/rules/tasks/execution.ts';
import type { Carry, IssueDeps } from '../../providers/base/issue.ts';
import { carryToGithub } from '../../providers/github/task.ts';
import { carryToLinear } from '../../providers/linear/task.ts';
import { defined } from '../../models/rules/base/defined.ts';

export type IssuesRef = { orgId: string; taskId: string };
/**
 * `again`: true when a retry is needed. `error`: the service that refused an update. The service's message is in the
 * worker's log. If the refusal is final, members also get the message in a notification.
 */
export type IssuesLeft = { again: boolean; error?: Link['provider']; retryAfterMs?: number };
export type IssueActivities = ReturnType<typeof createIssueActivities>;

const carriers: Partial<Record<Link['provider'], Carry>> = { linear: carryToLinear, github: carryToGithub };

export function createIssueActivities(deps: IssueDeps) {
  async function carry({ orgId, taskId }: IssuesRef, signal: AbortSignal): Promise<IssuesLeft> {
    // The task and its links are read as one snapshot. Otherwise a change that just came from an issue would look like
    // a change that must still be sent to the issue.
    const [found, org] = await Promise.all([findTaskWithLinks(orgId, taskId), findOrganization(orgId)]);
    // Issues are changed only for organizations in production.
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
        // A refusal without the service's answer means that the service is not connected, which the members know.
        if (refusal.permanent && refusal.cause instanceof ServiceError) await tellRefused(task, link, message);
        const again = left.again || !isFinal(refusal);
        left = { again, error: link.provider, ...defined({ retryAfterMs }) };
      }
    }
    return left;
  }

  /**
   * Notifies the members that a service refuses the changes of a task for good. Until a member has read this
   * notification, further refusals of the service are not notified.
   */
  function tellRefused({ _id, org_id, rev }: Task, { _id: linkId, provider }: Link, reason: string): Promise<void> {
    const name = providerNames[provider];
    const notice = {
      key: `issue_refused:${linkId}:${rev}`,
      kind: 'issue_refused',
      title: `${name} did not take the change of a task`,
      body: `The task has changed, its issue in ${name} has not. The next change of the task is tried again. ${reason}`,
      task_id: _id,
      gathered: `issue_refused:${provider}`,
      about: [_id],
    };
    return notifyMembers(org_id, notice, deps.clock());
  }

  return {
    /** Sends the changes of a task to all of its issues. */
    carryToIssues: (ref: IssuesRef) => carry(ref, cancellationSignal()),
  };
}
