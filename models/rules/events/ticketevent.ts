/** The body of a ticket's event, as receivers get it. Pure: it is written once, when the event is planned. */
import { escalationReasons, type EscalationReason, type TicketStatus } from '../chat/conversation.ts';
import type { Mode } from '../access/keys.ts';

/** What an event tells about: the ticket as the event left it, the conversation and the customer as they are known. */
export type EventData = {
  org_id: string;
  mode: Mode;
  ticket: {
    ticket_id: string;
    status: TicketStatus;
    /** Counts the events of the ticket from 1. */
    event_seq: number;
    reason: EscalationReason;
    description: string;
    created_at: string;
  } | null;
  conversation: {
    conv_id: string;
    status: string;
    preview: string;
    last_message_at: string | null;
    created_at: string;
  } | null;
  customer: {
    customer_id: string;
    external_id: string | null;
    email: string | null;
    name: string | null;
    verified: boolean;
  } | null;
};

/** The sentence that says why a person is needed: what the member wrote who escalated, else the reason's own. */
export const descriptionOf = ({ reason, note }: { reason: EscalationReason; note?: string }): string =>
  note ?? escalationReasons[reason];

/** Receivers are promised bodies below this, in bytes of UTF-8. Every part is bounded where it is taken in. */
export const maxBodyBytes = 20_000;

export const eventBody = (type: string, at: Date, data: EventData): string =>
  JSON.stringify({ type, timestamp: at.toISOString(), data });
