/**
 * What members are told of customers who wait and of deliveries that were given up: the words, and what a notice looks like in
 * Slack and in a mail. No notice holds what a customer wrote, or a customer's name or address: Slack and mailboxes keep
 * what an erasure here could not reach. Pure.
 */
import { escapeSlack, maxSlackText } from '../../../providers/slack/rules.ts';
import { hasOwnReceiver, type DeliveryKind } from './delivery.ts';
import { conversationNotices } from '../chat/notice.ts';
import { escalationReasons, type EscalationReason } from '../chat/conversation.ts';

export const supportNotices = [...conversationNotices, 'approval_waiting', 'delivery_failed'] as const;
export type SupportNotice = (typeof supportNotices)[number];

/** A title, and the lines behind it. */
export type Said = { title: string; lines: readonly string[] };

/** On one line, without what turns text around; at most `max` characters. */
export const oneLine = (text: string, max = 300): string => {
  const line = text.replaceAll(/[\p{Cc}\u2028-\u202e\u2066-\u2069]+/gu, ' ').trim();
  return line.length <= max ? line : `${line.slice(0, max - 1)}…`;
};

/** Subject and text of a mail; `subject` where it is not the title. */
export const saidMail = (
  { title, lines }: Said,
  orgName: string,
  subject = title,
): { subject: string; text: string } => ({
  subject: oneLine(subject, 150),
  text: `${[lines.join('\n'), `-- \n${oneLine(orgName)}. An owner or admin chooses what is mailed.`].join('\n\n')}\n`,
});

/** The text of a message in Slack; nothing in it becomes a mention. */
export function saidSlack({ title, lines }: Said): string {
  const [first = '', ...rest] = lines.map(escapeSlack);
  return [`*${escapeSlack(title)}* ${first}`, ...rest].join('\n').slice(0, maxSlackText);
}

const waits: Readonly<Record<EscalationReason, (org: string) => string>> = {
  asked: (org) => `A customer of ${org} asks for a person`,
  no_context: (org) => `A customer of ${org} found no answer`,
  human_only: (org) => `A customer of ${org} needs a person`,
  unknown_outcome: (org) => `A customer of ${org} waits: an action may have failed`,
  member: (org) => `A conversation of ${org} was escalated`,
  replied: (org) => `A customer of ${org} wrote back`,
  failed: (org) => `A customer of ${org} waits for an answer`,
};

const conversationLine = (convId: string): string => `Conversation ${convId}`;
const short = (orgName: string): string => oneLine(orgName, 80);

export const escalatedWords = (orgName: string, reason: EscalationReason, convId: string): Said => ({
  title: waits[reason](short(orgName)),
  lines: [escalationReasons[reason], conversationLine(convId)],
});

/** `by`: the name of the member who assigned it; a key has none. */
export const assignedWords = (orgName: string, by: string | undefined, convId: string): Said => ({
  title: `A conversation of ${short(orgName)} was assigned to you`,
  lines: [
    by === undefined ? 'It is yours to answer.' : `${oneLine(by, 100)} assigned it to you.`,
    conversationLine(convId),
  ],
});

export const repliedWords = (orgName: string, convId: string): Said => ({
  title: `A customer of ${short(orgName)} wrote in your conversation`,
  lines: ['The customer’s message is in the inbox.', conversationLine(convId)],
});

export const approvalWords = (orgName: string, tool: string, convId: string, callId: string): Said => ({
  title: `A tool call of ${short(orgName)} waits for a member`,
  lines: [
    `The agent wants to use ${oneLine(tool, 100)} for a customer; it waits for a day.`,
    `${conversationLine(convId)}, approval ${callId}`,
  ],
});

/** A delivery as a notice tells of it. */
export type GivenUp = {
  _id: string;
  kind: DeliveryKind;
  lane: string;
  event_type: string;
  destination: string;
  error?: string;
};

/** A receiver of its own is a person, whose address is left out, also from the sentence in which a mail server names it. */
export function givenUpWords(orgName: string, delivery: GivenUp): Said {
  const { _id, event_type, destination, error } = delivery;
  const own = hasOwnReceiver(delivery);
  return {
    title: `A delivery of ${short(orgName)} was given up`,
    lines: [
      own ? `A mail (${event_type}) did not arrive.` : `${event_type} did not reach ${oneLine(destination, 200)}.`,
      ...(own || error === undefined ? [] : [oneLine(error, 300)]),
      `Delivery ${_id}`,
    ],
  };
}

/** What goes to one place: one that stays unreachable is told once until that is read. */
export const unreached = ({ kind, lane }: Pick<GivenUp, 'kind' | 'lane'>): string => `delivery_failed:${kind}:${lane}`;
