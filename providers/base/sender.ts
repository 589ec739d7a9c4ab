/**
 * How something is sent to a kind of destination: a delivery (activities/events/deliver.ts), or a step of a task (step.ts). Claims,
 * attempts, retries, disabling and test mode are not a sender's.
 */
import type { Logger } from 'pino';
import type { MailSettings } from '../mail/settings.ts';
import type { Http } from '../../clients/http/http.ts';
import type { Mailer } from '../mail/client.ts';
import type { Github } from '../github/client.ts';
import type { Linear } from '../linear/client.ts';
import type { Slack } from '../slack/client.ts';
import type { SecretBox } from '../../models/base/secretbox.ts';
import type { Conversation, Ticket, TicketEvent } from '../../models/chat/conversation.ts';
import type { Customer } from '../../models/chat/customer.ts';
import type { Delivery } from '../../models/events/delivery.ts';
import type { SupportConfig } from '../../models/integrations/supportconfig.ts';
import type { OutgoingRequest, Sent } from '../../models/rules/events/delivery.ts';
import type { Mailbox } from '../../models/rules/access/mailbox.ts';
import type { OutgoingMail } from '../../models/rules/events/mailout.ts';

/** A mail to a candidate about an interview's time. */
export type InvitationLetter = {
  to: Mailbox;
  organization: string;
  /** Who has it sent. */
  account: string;
  /** Subject, text and calendar file. `shown`: as members see it, without the candidate's link. */
  words(from: Mailbox, options: { shown: boolean }): Pick<OutgoingMail, 'subject' | 'text' | 'calendar'>;
};
/** Writes such a mail when it is sent; null when it says what does not hold any more, or nobody has to know it. */
export type InvitationPort = (
  delivery: Delivery,
  deps: { secrets: SecretBox; publicUrl: string },
) => Promise<InvitationLetter | null>;

export type SenderDeps = {
  /** Without it there are no mails to candidates. */
  invitations?: InvitationPort;
  /** For addresses that organizations gave: it checks each one when it connects. */
  http: Http;
  slack: Slack;
  slackApp: { clientId: string; clientSecret: string } | undefined;
  linear: Linear;
  github: Github;
  secrets: SecretBox;
  /** Private hosts that requests may reach, also over plain http. */
  egressAllow: readonly string[];
  mailer: Mailer;
  mail: MailSettings;
  /** Where this system is reached from outside. */
  publicUrl: string;
  clock: () => Date;
  log: Logger;
};

/** An event that is being planned. `customer` is missing once it was erased. */
export type TicketNews = {
  event: TicketEvent;
  /** As the event left it. */
  ticket: Ticket;
  conversation: Conversation;
  customer: Readonly<Customer> | null;
  supportConfig: SupportConfig;
  /** The event's body as webhooks get it; it is written once. */
  body: string;
};

/** A ticket's event as one destination gets it. */
export type Composed = {
  /** Shown to members, without secrets. */
  destination: string;
  /** Stored; all that `send` needs to make the same request again. */
  payload: unknown;
};

export type Sender<What> = {
  /** Whether nothing could send it, as without a mail server: it is treated as in test mode. */
  unsendable?(what: What, deps: SenderDeps): Promise<boolean>;
  /** @throws DeliveryRefused when the receiver did not take it. */
  send(what: What, deps: SenderDeps, signal: AbortSignal): Promise<Sent>;
  /** The request that `send` would make now; in test mode it is stored instead of being sent. @throws DeliveryRefused */
  preview(what: What, deps: SenderDeps): Promise<OutgoingRequest>;
};

export type DeliverySender = Sender<Delivery> & {
  /** Null: there is nowhere to send it. A sender without this sends no ticket's events. */
  compose?(news: TicketNews, deps: SenderDeps): Promise<Composed | null>;
};
