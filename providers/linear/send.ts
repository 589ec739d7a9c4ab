/**
 * Sends ticket events to Linear. The first event of a ticket creates its issue; later events comment on it and change
 * its state. The ids of issue and comments are derived from the ticket and the event, so that a retry creates nothing
 * twice.
 */
import { connection, guarded } from '../base/connected.ts';
import type { DeliverySender, SenderDeps } from '../base/sender.ts';
import { found, idFrom, issueIdOf, makeIssue, requestOf, teamOf } from './issue.ts';
import { LinearError, documents, type LinearIssue } from './client.ts';
import type { Delivery } from '../../models/events/delivery.ts';
import { findIntegration, type Integration } from '../../models/integrations/integration.ts';
import { createLink, findLinkOf, noteRemoved, noteState, type Link } from '../../models/events/link.ts';
import { DeliveryRefused, type OutgoingRequest } from '../../models/rules/events/delivery.ts';
import { issueComment, issueText } from '../../models/rules/events/tickettext.ts';
import { defined } from '../../models/rules/base/defined.ts';

type Credentials = { api_key: string };
/** The texts of an event, written once, before the first attempt. */
type Payload = { title: string; description: string; comment: string };

/** The comments of an event on issues in different workspaces have different ids, because Linear takes each id once. */
const commentIdOf = ({ event_id }: Delivery, issueId: string): string => idFrom(`comment on ${event_id} in ${issueId}`);
/** Whether the event creates the issue. The issue's description is then complete, so no comment is needed. */
const isFirst = ({ event_type }: Delivery): boolean => event_type === 'ticket.created';

const newIssueId = ({ subject }: Delivery, integration: Integration): string =>
  issueIdOf(subject.ticket_id!, integration);
const newIssue = (delivery: Delivery, integration: Integration, { title, description }: Payload) => ({
  id: newIssueId(delivery, integration),
  teamId: String(integration.settings['team_id']),
  title,
  description,
});

function requestFor(
  delivery: Delivery,
  integration: Integration,
  link: Link | null,
  deps: SenderDeps,
): OutgoingRequest {
  const payload = delivery.payload as Payload;
  const issueId = link?.external ?? newIssueId(delivery, integration);
  const made = isFirst(delivery)
    ? { query: documents.createIssue, variables: { input: newIssue(delivery, integration, payload) } }
    : {
        query: documents.comment,
        variables: { input: { id: commentIdOf(delivery, issueId), issueId, body: payload.comment } },
      };
  return requestOf(deps.linear, made);
}

export const linear: DeliverySender = {
  async compose({ conversation, told }) {
    const integration = await findIntegration(conversation.org_id, 'linear');
    if (!integration || integration.status === 'disconnected') return null;
    const payload: Payload = { ...issueText(told), comment: issueComment(told) };
    return { destination: teamOf(integration), payload };
  },

  async preview(delivery, deps) {
    const integration = await findIntegration(delivery.org_id, 'linear');
    if (!integration) throw new DeliveryRefused('Linear is not connected any more.', { permanent: true });
    return requestFor(delivery, integration, null, deps);
  },

  async send(delivery, deps, signal) {
    const { integration, credentials } = await connection(delivery.org_id, 'linear', deps);
    // The connection reaches no issue in another workspace, so a ticket with an issue there gets a new issue.
    const link = await findLinkOf(delivery.org_id, 'linear', delivery.subject.ticket_id!, integration.workspace);
    const request = requestFor(delivery, integration, link, deps);
    if (link?.removed_at)
      throw new DeliveryRefused('The issue of this ticket was removed.', { permanent: true, request });
    const { api_key: key } = credentials as Credentials;
    const call = { key, delivery, integration, deps, signal };
    return guarded({ integration, deps, signal, request }, async () => {
      const { issue, linked } = await provideIssue(call, link);
      if (!isFirst(delivery)) {
        await comment(call, issue.id);
        await move(call, issue, linked);
      }
      return { status_code: 200, request, result: { id: issue.identifier, url: issue.url } };
    });
  },
};

type Call = { key: string; delivery: Delivery; integration: Integration; deps: SenderDeps; signal: AbortSignal };

/** Returns the ticket's issue; creates the issue when there is none. */
async function provideIssue(call: Call, link: Link | null): Promise<{ issue: LinearIssue; linked: string }> {
  const { key, deps, signal } = call;
  if (link) {
    const issue = await found(deps.linear.issue(key, link.external, signal));
    if (issue) return { issue, linked: link._id };
    // A link without a state belongs to an issue that was never created, because an attempt died after it had stored
    // the link.
    if (link.state_id !== undefined) {
      await noteRemoved(link._id, deps.clock());
      throw new DeliveryRefused('The issue of this ticket is gone.', { permanent: true });
    }
  }
  const issue = await createIssue(call);
  const linked = await linkTo(call, issue.id);
  await noteState(linked, { stateId: issue.state.id });
  return { issue, linked };
}

async function createIssue(call: Call): Promise<LinearIssue> {
  const { key, delivery, integration, deps, signal } = call;
  const input = newIssue(delivery, integration, delivery.payload as Payload);
  const again = delivery.attempts.length > 0;
  const link = (external: string) => linkTo(call, external);
  const mark = delivery.subject.ticket_id!;
  return (await makeIssue({ linear: deps.linear, key, input, mark, again, link, signal })).issue;
}

async function linkTo({ delivery, integration, deps }: Call, external: string): Promise<string> {
  const { org_id, mode, subject } = delivery;
  const { ticket_id, conv_id, customer_id } = subject;
  return createLink({
    org_id,
    mode,
    provider: 'linear',
    external,
    kind: 'ticket',
    subject_id: ticket_id!,
    ...defined({ workspace: integration.workspace, conv_id, customer_id }),
    created_at: deps.clock(),
  });
}

async function comment({ key, delivery, deps, signal }: Call, issueId: string): Promise<void> {
  const { comment: body } = delivery.payload as Payload;
  const id = commentIdOf(delivery, issueId);
  if (delivery.attempts.length > 0) {
    const comments = await deps.linear.comments(key, issueId, signal);
    if (comments.some((one) => one.id === id || one.body.trim() === body.trim())) return;
  }
  try {
    await deps.linear.comment(key, { id, issueId, body }, signal);
  } catch (error) {
    if (!(error instanceof LinearError) || !error.unknownField) throw error;
    await deps.linear.comment(key, { issueId, body }, signal);
  }
}

/**
 * Moves the issue: to a completed state when the ticket is resolved, and back to an open state when it is escalated
 * again.
 */
async function move(
  { key, delivery, integration, deps, signal }: Call,
  issue: LinearIssue,
  linked: string,
): Promise<void> {
  const resolved = delivery.event_type === 'ticket.resolved';
  const finished = ['completed', 'canceled', 'duplicate'].includes(issue.state.type);
  if (resolved === finished) {
    // An unanswered earlier attempt may have changed the state. Linear's event about that change, which may arrive
    // late, must be ignored.
    if (delivery.attempts.length > 0) await noteState(linked, { seenAt: new Date(issue.updatedAt) });
    return;
  }
  const states = await deps.linear.states(key, String(integration.settings['team_id']), signal);
  const wanted = resolved ? ['completed'] : ['unstarted', 'backlog', 'triage', 'started'];
  const target = wanted.map((type) => states.find((state) => state.type === type)).find(Boolean);
  if (!target) return;
  // The state is noted first, because Linear's event about the change may arrive before the response and must be
  // ignored.
  await noteState(linked, { stateId: target.id });
  const moved = await deps.linear.updateIssue(key, issue.id, { stateId: target.id }, signal);
  await noteState(linked, { seenAt: new Date(moved.updatedAt) });
}
