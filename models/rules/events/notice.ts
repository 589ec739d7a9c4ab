/**
 * Notices to members about waiting customers, tool approvals and failed deliveries: the texts and their form in Slack
 * and mail. Pure. No notice contains a customer's words, name or address, because an erasure of the customer in this
 * system cannot reach Slack and mailboxes.
 */
import { escapeSlack, maxSlackText } from '../../../providers/slack/rules.ts';
import { hasOwnReceiver, type DeliveryKind } from './delivery.ts';
import { conversationNotices } from '../chat/notice.ts';
import { escalationReasons, type EscalationReason } from '../chat/conversation.ts';

export const supportNotices = [...conversationNotices, 'approval_waiting', 'delivery_failed'] as const;
export type SupportNotice = (typeof supportNotices)[number];

/** A notice: a title, and the lines below it. */
export type Said = { title: string; lines: readonly string[] };

/** The text on one line, without control and text-direction characters, truncated to `max` characters. */
export const oneLine = (text: string, max = 300): string => {
  const line = text.replaceAll(/[\p{Cc}\u2028-\u202e\u2066-\u2069]+/gu, ' ').trim();
  return line.length <= max ? line : `${line.slice(0, max - 1)}…`;
};

/** The last sentence of a mail, which says who chooses what is mailed. */
const mailChoice = {
  organization: 'An owner or admin chooses what is mailed.',
  member: 'You choose in your notices when you are mailed.',
} as const;

/** Builds subject and text of a mail. Pass `subject` when it differs from the title. */
export const saidMail = (
  { title, lines }: Said,
  orgName: string,
  choice: keyof typeof mailChoice,
  subject = title,
): { subject: string; text: string } => ({
  subject: oneLine(subject, 150),
  text: `${[lines.join('\n'), `-- \n${oneLine(orgName)}. ${mailChoice[choice]}`].join('\n\n')}\n`,
});

/** The text of a Slack message; escaping prevents mentions. */
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

/** The notice of an assigned conversation. `by`: the name of the member who assigned it; absent when an API key did. */
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

/** The notice of a mention in a note. `by`: the name of the member who wrote the note. */
export const mentionedWords = (orgName: string, by: string | undefined, convId: string): Said => ({
  title: `You were mentioned in a note at ${short(orgName)}`,
  lines: [`${oneLine(by ?? 'A member', 100)} wrote a note for you.`, conversationLine(convId)],
});

export const snoozeOverWords = (orgName: string, convId: string): Said => ({
  title: `A snoozed conversation of ${short(orgName)} is due`,
  lines: ['Its time has come.', conversationLine(convId)],
});

export const approvalWords = (orgName: string, tool: string, convId: string, callId: string): Said => ({
  title: `A tool call of ${short(orgName)} waits for a member`,
  lines: [
    `The agent wants to use ${oneLine(tool, 100)} for a customer; it waits for a day.`,
    `${conversationLine(convId)}, approval ${callId}`,
  ],
});

/** The fields of a failed delivery that its notice uses. */
export type GivenUp = {
  _id: string;
  kind: DeliveryKind;
  lane: string;
  event_type: string;
  destination: string;
  error?: string;
};

/**
 * The notice of a failed delivery. When the receiver is a person, the person's address and the error are left out,
 * because the mail server's error may contain the address.
 */
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

/**
 * The value of `gathered` in notices about failed deliveries to one destination. A member has at most one unread notice
 * with this value.
 */
export const unreached = ({ kind, lane }: Pick<GivenUp, 'kind' | 'lane'>): string => `delivery_failed:${kind}:${lane}`;
