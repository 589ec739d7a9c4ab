/**
 * The texts of ticket events for team chats and issue trackers. Customers' words are escaped or fenced, so that they
 * cannot form mentions, links or headings in these services. Pure.
 */
import { descriptionOf } from './ticketevent.ts';
import { escapeSlack, maxSlackText } from '../../../providers/slack/rules.ts';
import type { EscalationReason, TicketEventType } from '../chat/conversation.ts';

export type TicketTold = {
  type: TicketEventType;
  seq: number;
  ticket: { ticket_id: string; reason: EscalationReason; note?: string };
  /** The beginning of the customer's last message. */
  preview: string;
  customer: { name?: string; email?: string } | null;
};

const whose = ({ customer }: TicketTold): string => {
  const { name, email } = customer ?? {};
  if (name !== undefined && email !== undefined) return `${name} (${email})`;
  return name ?? email ?? 'a customer';
};
const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

export function slackTicketText(told: TicketTold): string {
  const { type, ticket, preview } = told;
  const reason = escapeSlack(oneLine(descriptionOf(ticket)));
  if (type === 'ticket.resolved') return `Resolved. (${ticket.ticket_id})`;
  if (type === 'ticket.escalated') return `Escalated: ${reason} (${ticket.ticket_id}, event ${told.seq})`;
  const lines = [
    `*New ticket* of ${escapeSlack(oneLine(whose(told)))}`,
    ...(preview === '' ? [] : [`> ${escapeSlack(oneLine(preview))}`]),
    reason,
    `${ticket.ticket_id} · What you answer in this thread goes to the customer.`,
  ];
  return lines.join('\n').slice(0, maxSlackText);
}

const maxTitle = 120;
/** A code block whose fence is longer than any run of backticks in the text, so that the text cannot end the block. */
export function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

/** An issue's title and description. The description contains the ticket's id, so that the issue can be found by it. */
export function issueText(told: TicketTold): { title: string; description: string } {
  const { ticket, preview } = told;
  const about = preview === '' ? ticket.ticket_id : oneLine(preview);
  const title = `Support: ${about}`.slice(0, maxTitle).replace(/[\ud800-\udbff]$/, '');
  const description = [
    `Customer: ${oneLine(whose(told)).replaceAll(/[<>[\]`*_@#]/g, (sign) => `\\${sign}`)}`,
    fenced(preview === '' ? '(nothing was written)' : preview),
    fenced(descriptionOf(ticket)),
    `Ticket ${ticket.ticket_id}. Moving this issue to a completed or canceled state resolves the ticket.`,
  ];
  return { title, description: description.join('\n\n') };
}

/** The comment on an issue for a later event. `event N` tells readers which event of the ticket it is. */
export function issueComment({ type, seq, ticket }: TicketTold): string {
  if (type === 'ticket.resolved') return `The ticket is resolved (event ${seq}).`;
  return `The customer was escalated to a person (event ${seq}):\n\n${fenced(descriptionOf(ticket))}`;
}
