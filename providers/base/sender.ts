/**
 * The interface of a sender: it sends deliveries (activities/events/deliver.ts) or steps of tasks (step.ts) to one kind
 * of destination. Its callers handle claims, retries, disabling and test mode.
 */
import type { Logger } from 'pino';
import type { MailSettings, MailVia } from '../mail/settings.ts';
import type { Http } from '../../clients/http/http.ts';
import type { Mailer } from '../mail/client.ts';
import type { Github } from '../github/client.ts';
import type { Linear } from '../linear/client.ts';
import type { Slack } from '../slack/client.ts';
import type { SecretBox } from '../../models/base/secretbox.ts';
import type { Conversation } from '../../models/chat/conversation.ts';
import type { Delivery } from '../../models/events/delivery.ts';
import type { SupportConfig } from '../../models/integrations/supportconfig.ts';
import type { OutgoingRequest, Sent } from '../../models/rules/events/delivery.ts';
import type { Mailbox } from '../../models/rules/access/mailbox.ts';
import type { OutgoingMail } from '../../models/rules/events/mailout.ts';
import type { TicketTold } from '../../models/rules/events/tickettext.ts';
import type { OutsideReason } from '../../models/rules/events/outsidemail.ts';

/** A mail whose text is written at the time of sending. */
export type Letter = {
  to: Mailbox;
  /**
   * Returns subject, text and calendar file of the mail that the server `via` sends from the address `from`. `shown`:
   * true for the form that members see, without the receiver's link.
   */
  words(by: { from: Mailbox; via: MailVia; shown: boolean }): Pick<OutgoingMail, 'subject' | 'text' | 'calendar'>;
  /** Makes the mail's link valid; returns false when the mail must not be sent any more. */
  prepare?(): Promise<boolean>;
  /**
   * For a mail to a person outside the organization. `organization`: its name; when the name is empty, the mail names
   * the sender's domain. `why`: the reason for the mail. `account`: the account that sends it. `use`: the idempotency
   * key for the limits.
   */
  outside?: { organization: string; why: OutsideReason; account: string; use: string };
  /** For a mail about a task to a member. `use`: the idempotency key for the limit. */
  member?: { use: string };
  /** The sender's name when the server's address has none. */
  fromName?: string;
};
/** Writes the mail to a candidate at the time of sending; null when it is outdated or the candidate need not get it. */
export type InvitationPort = (
  delivery: Delivery,
  deps: { secrets: SecretBox; publicUrl: string },
) => Promise<Letter | null>;

export type SenderDeps = {
  /** Writes the mails to candidates; absent when this system sends none. */
  invitations?: InvitationPort;
  /** The client for URLs that organizations entered. It checks each target address when it connects. */
  http: Http;
  slack: Slack;
  slackApp: { clientId: string; clientSecret: string } | undefined;
  linear: Linear;
  github: Github;
  secrets: SecretBox;
  /** Private hosts that requests may reach, also over plain HTTP. */
  egressAllow: readonly string[];
  mailer: Mailer;
  mail: MailSettings;
  publicUrl: string;
  clock: () => Date;
  log: Logger;
};

/** A ticket event whose deliveries are being composed. */
export type TicketNews = {
  /** The data about the event for texts, with the ticket's state after the event. */
  told: TicketTold;
  conversation: Conversation;
  supportConfig: SupportConfig;
  /** The event's JSON body for webhooks. It is written once, so that all attempts send the same body. */
  body: string;
};

/** A ticket event, prepared for one destination. */
export type Composed = {
  /** The destination's name for members, without secrets. */
  destination: string;
  /** The stored content from which `send` builds the same request for every attempt. */
  payload: unknown;
};

export type Sender<What> = {
  /**
   * True when no server is configured that could send the request. The request is then stored instead, as in test mode.
   */
  unsendable?(what: What, deps: SenderDeps): Promise<boolean>;
  /** @throws DeliveryRefused when the receiver did not accept the request. */
  send(what: What, deps: SenderDeps, signal: AbortSignal): Promise<Sent>;
  /**
   * The request that `send` would make now. In test mode the request is stored instead of sent. @throws DeliveryRefused
   */
  preview(what: What, deps: SenderDeps): Promise<OutgoingRequest>;
};

export type DeliverySender = Sender<Delivery> & {
  /**
   * Prepares a ticket event for the destination; null when the organization has no such destination. Senders without
   * `compose` get no ticket events.
   */
  compose?(news: TicketNews, deps: SenderDeps): Promise<Composed | null>;
};
