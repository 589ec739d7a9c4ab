/**
 * Plans the deliveries of a ticket's events: one delivery per event and per destination that the organization has
 * selected when the event is planned. The body is written here, once, so that all attempts send the same body.
 */
import type { DeliverySender, SenderDeps, TicketNews } from '../../providers/base/sender.ts';
import type { Conversation, Ticket, TicketEvent } from '../../models/chat/conversation.ts';
import type { Customer } from '../../models/chat/customer.ts';
import type { NewDelivery } from '../../models/events/delivery.ts';
import type { SupportConfig } from '../../models/integrations/supportconfig.ts';
import { ticketLine, type DeliveryKind } from '../../models/rules/events/delivery.ts';
import { defined } from '../../models/rules/base/defined.ts';
import { descriptionOf, eventBody, type EventData } from '../../models/rules/events/ticketevent.ts';

export type Senders = Readonly<Partial<Record<DeliveryKind, DeliverySender>>>;
export type Known = {
  conversation: Conversation & { ticket: Ticket };
  supportConfig: SupportConfig;
  customer: Readonly<Customer> | null;
};

/** Composes the deliveries of the given events, in the order of the events. */
export async function composeEvents(
  events: readonly TicketEvent[],
  known: Known,
  senders: Senders,
  deps: SenderDeps,
): Promise<NewDelivery[]> {
  const all: NewDelivery[] = [];
  for (const event of events) all.push(...(await composeEvent(event, known, senders, deps)));
  return all;
}

async function composeEvent(
  event: TicketEvent,
  known: Known,
  senders: Senders,
  deps: SenderDeps,
): Promise<NewDelivery[]> {
  const { conversation, supportConfig, customer } = known;
  const ticket = { ...conversation.ticket, status: event.ticket_status };
  const body = eventBody(event.type, event.at, dataOf(event, ticket, known));
  const { name, email } = customer ?? {};
  const told = {
    type: event.type,
    seq: event.seq,
    ticket,
    preview: conversation.customer_preview ?? '',
    customer: customer && { ...defined({ name, email }) },
  };
  const news: TicketNews = { told, conversation, supportConfig, body };
  const { ticket_id } = ticket;
  const composed = supportConfig.outbox_providers.map(async (kind): Promise<NewDelivery | null> => {
    const made = await senders[kind]?.compose?.(news, deps);
    if (!made) return null;
    return {
      org_id: conversation.org_id,
      mode: conversation.mode,
      kind,
      event_id: event.event_id,
      event_type: event.type,
      lane: kind,
      line: ticketLine(ticket_id, kind),
      ...made,
      subject: { conv_id: conversation._id, ticket_id, seq: event.seq, customer_id: conversation.customer_id },
      about: [conversation.customer_id],
    };
  });
  return (await Promise.all(composed)).filter((delivery) => delivery !== null);
}

function dataOf({ seq }: TicketEvent, ticket: Ticket, { conversation, customer }: Known): EventData {
  const { _id, org_id, mode, status, preview, customer_preview, last_message_at, created_at } = conversation;
  return {
    org_id,
    mode,
    ticket: {
      ticket_id: ticket.ticket_id,
      status: ticket.status,
      event_seq: seq,
      reason: ticket.reason,
      description: descriptionOf(ticket),
      created_at: ticket.created_at.toISOString(),
    },
    conversation: {
      conv_id: _id,
      status,
      preview: customer_preview ?? preview,
      last_message_at: last_message_at?.toISOString() ?? null,
      created_at: created_at.toISOString(),
    },
    customer: customer && {
      customer_id: customer._id,
      external_id: customer.external_id ?? null,
      email: customer.email ?? null,
      name: customer.name ?? null,
      verified: customer.verified,
    },
  };
}
