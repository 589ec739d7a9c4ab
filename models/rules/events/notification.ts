/**
 * What members are told outside of this system: mails about their accounts, and what happened in their organization; and what
 * candidates are told of their interviews. Pure.
 * Each is a delivery of the kind `notification`.
 */
import type { Mailbox } from '../access/mailbox.ts';
import type { AccountLetter, AccountMailKind } from '../access/accountmail.ts';

/** What a delivery of this kind holds: a mail about an account, to a candidate, another one to a member, or a message in Slack. */
export type NotificationPayload =
  | { account: AccountLetter }
  | { invitation: object }
  | { mail: { to: Mailbox; subject: string; text: string } }
  | { slack: { text: string } };

/** The lane of what goes to the organization's webhook of Slack. */
export const slackLane = 'slack';
/** How members see that destination. */
export const slackWebhookName = 'Slack webhook';

/** Whose deliveries mails about accounts are: they belong to no organization, so no member of one can read them. */
export const accountsOwner = 'accounts';

/** The type of the event that such a mail tells of. */
export const accountEvent = (kind: AccountMailKind): string => `account.${kind}`;

/** What stands for a secret where a delivery is shown. */
export const hiddenLink = '***';

/** The address of a webhook without what lets whoever knows it post: its host alone is shown. */
export const maskWebhook = (url: string): string => `${new URL(url).origin}/${hiddenLink}`;
