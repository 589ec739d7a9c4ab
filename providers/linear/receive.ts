/**
 * Handles events of Linear's issues and updates the linked record, such as a ticket or a task. Linear also sends events
 * for changes that this system made; such events have no effect.
 */
import { z } from 'zod';
import type { Handled, Starter } from '../base/handled.ts';
import type { SenderDeps } from '../base/sender.ts';
import { jsonOf, understood } from '../base/understood.ts';
import type { LinearState } from './client.ts';
import type { LinearCredentials } from './connect.ts';
import { isStale, readIssueEvent, sentIssueEvent, type IssueEvent } from './event.ts';
import { noteAbout, type Inbound } from '../../models/events/inbound.ts';
import { credentialsOf, findConnection } from '../../models/integrations/integration.ts';
import { findLink, noteRemoved, noteRestored, noteState, type Link, type LinkKind } from '../../models/events/link.ts';

export type LinearDeps = Starter & Pick<SenderDeps, 'linear' | 'secrets' | 'clock'>;

/** How a linked record follows its issue. Each function may be called again for the same event. */
export type IssuePort = {
  moved(link: Link, state: LinearState, inbound: Inbound, deps: LinearDeps): Promise<Handled>;
  removed(link: Link, deps: LinearDeps): Promise<Handled>;
  /** Handles a change of other fields than the state (`event.details`). */
  changed?(link: Link, event: IssueEvent, deps: LinearDeps): Promise<Handled>;
};
type IssuePorts = Readonly<Record<LinkKind, IssuePort>>;

const anyEvent = z.object({ type: z.string().nullish() });

export async function handleLinear(
  ports: IssuePorts,
  inbound: Inbound,
  deps: LinearDeps,
  signal: AbortSignal,
): Promise<Handled> {
  const sent = jsonOf(inbound.body);
  if (understood(anyEvent, sent).type !== 'Issue') return { ignored: 'Only events of issues are followed.' };
  const event = readIssueEvent(understood(sentIssueEvent, sent));
  const link = await findLink('linear', event.issueId);
  if (!link || link.org_id !== inbound.org_id) return { ignored: 'Nothing here is linked to this issue.' };
  await noteAbout(inbound._id, link.about);
  const workspace = (await findConnection(link.org_id, 'linear'))?.workspace;
  if (workspace !== undefined && link.workspace !== undefined && workspace !== link.workspace)
    return { ignored: 'The issue is in a workspace that is not connected.' };
  const port = ports[link.kind];
  if (event.action === 'remove') {
    const handled = await port.removed(link, deps);
    await noteRemoved(link._id, deps.clock());
    return handled;
  }
  if (event.action !== 'update') return { ignored: 'The issue was made here.' };
  // Linear replies "not found" for a deleted issue, and for an issue that the key may not read. This issue was
  // restored, or the key can read it again.
  if (link.removed_at && event.updatedAt && event.updatedAt > link.removed_at) await noteRestored(link._id);
  const details = await detailsHandled(event, link, port, deps);
  if (!event.moves || event.stateId === undefined)
    return details ?? { ignored: 'The state of the issue did not change.' };
  if (event.stateId === link.state_id || isStale(event, link.seen_at))
    return details ?? { ignored: 'This state of the issue is known already.' };
  const state = event.state ?? (await stateOf(inbound.org_id, event.stateId, deps, signal));
  if (!state) return { ignored: 'Linear does not know the state of the issue.' };
  const handled = await port.moved(link, state, inbound, deps);
  // The state is stored last. When the process dies before that, the event is handled again, which the port tolerates.
  await noteState(link._id, { stateId: event.stateId, seenAt: event.updatedAt });
  return handled;
}

/** Passes changes of other fields than the state to the port. Undefined when nothing new changed. */
async function detailsHandled(
  event: IssueEvent,
  link: Link,
  port: IssuePort,
  deps: LinearDeps,
): Promise<Handled | undefined> {
  if (!port.changed || isStale(event, link.seen_at) || Object.keys(event.details).length === 0) return undefined;
  const handled = await port.changed(link, event, deps);
  if (!event.moves) await noteState(link._id, { seenAt: event.updatedAt });
  return handled;
}

/** Finds the state's name and type, because events may contain only its id. */
async function stateOf(
  orgId: string,
  stateId: string,
  { linear, secrets }: LinearDeps,
  signal: AbortSignal,
): Promise<LinearState | null> {
  const integration = await findConnection(orgId, 'linear');
  if (!integration) return null;
  const { api_key: key } = credentialsOf(integration, secrets) as LinearCredentials;
  return linear.state(key, stateId, signal);
}
