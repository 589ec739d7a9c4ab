/** Applies events of other services to tickets, by the same operations that members use. */
import type { Handled, Starter } from '../../../providers/base/handled.ts';
import { findOrganization } from '../../../models/access/organization.ts';
import { actOn } from '../../../models/chat/act.ts';
import { ConversationModel, findConversation } from '../../../models/chat/conversation.ts';
import { listMessages } from '../../../models/chat/message.ts';
import { findReply, startStored, storeReply } from '../../../models/chat/saying.ts';
import type { Link } from '../../../models/events/link.ts';
import { Problem } from '../../../models/rules/base/errors.ts';
import { closingSentence, type Closing } from '../../../models/rules/integrations/closing.ts';
import type { IssuePort } from '../../../providers/linear/receive.ts';

type TicketDeps = Starter & { clock: () => Date };

/** The number of recent messages from which the customer's language is detected. */
const rememberedMessages = 20;

/**
 * Resolves the conversation of a linked ticket, and sends the customer a message about it. A customer who has left the
 * chat does not see the status, but gets the message. `key`: the idempotency key of the event.
 */
async function resolveTicket(
  { org_id: orgId, conv_id: convId }: Pick<Link, 'org_id' | 'conv_id'>,
  closing: Closing,
  { key, by }: { key: string; by: string },
  { clock, start }: TicketDeps,
): Promise<Handled> {
  const conversation = convId === undefined ? null : await findConversation(orgId, convId);
  if (!conversation) return { ignored: 'The conversation of this ticket is gone.' };
  const said = { clientMessageId: key, id: by };
  const told = await findReply(conversation, said.clientMessageId, said);
  if (conversation.status === 'resolved')
    return told ? { outcome: resolvedOutcome } : { ignored: 'The ticket is resolved already.' };
  try {
    if (!told) {
      const messages = await listMessages(orgId, conversation._id, { limit: rememberedMessages });
      const spoken = messages.filter(({ role }) => role === 'customer').map(({ body }) => body);
      const name = (await findOrganization(orgId))?.name ?? 'Support';
      const body = closingSentence(closing, spoken.toReversed());
      const stored = await storeReply(conversation, { body, clientMessageId: key }, { id: by, name }, clock());
      await startStored(stored, start);
    }
    const resolved = await actOn(orgId, conversation._id, 'resolve', { now: clock(), attend: true });
    await start(ConversationModel, resolved, resolved.pending ?? []);
    return { outcome: resolvedOutcome };
  } catch (error) {
    // A member resolved the conversation first, or the ticket has reached its maximum number of events.
    if (error instanceof Problem && error.code === 'CONFLICT') return { ignored: error.message };
    throw error;
  }
}

const resolvedOutcome = 'The ticket was resolved, and the customer was told.';

/** Applies a status change of a ticket's Linear issue to the ticket. */
export const ticketIssuePort: IssuePort = {
  async moved(link, state, inbound, deps) {
    if (state.type !== 'completed' && state.type !== 'canceled')
      return { ignored: `A move to “${state.name}” does not change a ticket.` };
    return resolveTicket(link, state.type, { key: `inbound:${inbound._id}`, by: 'linear' }, deps);
  },
  removed: () => Promise.resolve({ outcome: 'The issue is gone; the ticket stays as it is.' }),
};
