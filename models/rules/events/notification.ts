/**
 * Notifications by mail and Slack: mails about accounts, mails and Slack messages to members, and mails to interview
 * candidates. Each is a delivery of the kind `notification`. Pure.
 */
import type { AccountLetter, AccountMailKind } from '../access/accountmail.ts';

/**
 * The content of a notification's delivery: a mail about an account, a mail to a candidate, a mail to a member, or a
 * Slack message.
 */
export type NotificationPayload =
  | { account: AccountLetter }
  | { invitation: object }
  | { mail: { subject: string; text: string } }
  | { slack: { text: string } };

const memberLanes = 'mail:';
/** The lane of mails to a member. */
export const memberLane = (userId: string): string => `${memberLanes}${userId}`;
/** The user id of the member whose lane this is. */
export const memberOfLane = (lane: string): string => lane.slice(memberLanes.length);

/** The lane of deliveries to the organization's Slack webhook. */
export const slackLane = 'slack';
/** The name of the Slack webhook in the list of deliveries. */
export const slackWebhookName = 'Slack webhook';

/** The owner id of mails about accounts. They belong to no organization, so that no member can read them. */
export const accountsOwner = 'accounts';

/** The event type of an account mail. */
export const accountEvent = (kind: AccountMailKind): string => `account.${kind}`;

/** The placeholder for a secret in a displayed delivery. */
export const hiddenLink = '***';

/** A webhook's URL without its secret path: only scheme and host are shown. */
export const maskWebhook = (url: string): string => `${new URL(url).origin}/${hiddenLink}`;
