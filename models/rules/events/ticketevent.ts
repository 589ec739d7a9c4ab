/**
 * The JSON body of a ticket event, as receivers get it. Pure. The body is made once, when the event is planned, so that
 * all attempts send the same text.
 */
import { escalationReasons, type EscalationReason, type TicketStatus } from '../chat/conversation.ts';
import type { Mode } from '../access/keys.ts';

/** The data of an event: the ticket right after the event, with its conversation and customer. */
export type EventData = {
  org_id: string;
  mode: Mode;
  ticket: {
    ticket_id: string;
    status: TicketStatus;
    /** The number of the event within its ticket, from 1. */
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

/** Why a person is needed: the note of the member who escalated, or else the reason's own sentence. */
export const descriptionOf = ({ reason, note }: { reason: EscalationReason; note?: string }): string =>
  note ?? escalationReasons[reason];

/**
 * The documented maximum size of a body, in bytes of UTF-8. Every part is limited when it is stored, so a body cannot
 * exceed it.
 */
export const maxBodyBytes = 20_000;

export const eventBody = (type: string, at: Date, data: EventData): string =>
  JSON.stringify({ type, timestamp: at.toISOString(), data });
