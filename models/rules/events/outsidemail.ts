/**
 * Mails to outsiders. An outsider is neither a member nor a customer who wrote first. The owner of an address that a
 * visitor gave in a chat counts as an outsider, too. Each mail says who sends it, through which system, why, and how to
 * unsubscribe. Daily limits keep one account from mailing strangers through the server that all organizations share.
 * Pure.
 */
import { shownName } from '../access/accountmail.ts';

const reasons = {
  invitation: 'somebody there entered your address to invite you',
  task: 'somebody there entered your address as that of whoever is to do a task',
  interview: 'somebody there entered your address as that of a candidate for an interview',
  reply: 'somebody gave your address for replies in a chat there',
} as const;
export type OutsideReason = keyof typeof reasons;

/**
 * The daily limit of mails to one address, from all senders together. Replies to an address that a visitor gave have a
 * counter of their own with the same limit. Operators cannot raise the limit, because it protects people from being
 * flooded with mails.
 */
export const outsideToOnePerDay = 10;
/** The daily limit of mails from an account whose own address is not proven: enough to invite a first team. */
export const outsideUnprovenPerDay = 5;

/** Whether a person unsubscribes from one organization or from all on this system. */
export const objectionScopes = ['organization', 'all'] as const;
export type ObjectionScope = (typeof objectionScopes)[number];

/** Why a mail is not sent: the person unsubscribed, or a limit of the address, account or organization is reached. */
export type OutsideRefusal = 'objected' | 'address' | 'account' | 'organization';
export const outsideRefusals: Readonly<Record<OutsideRefusal, string>> = {
  objected: 'Whoever has this address wants no more such mails.',
  address: 'This address has been sent as many mails today as one address gets. Try again tomorrow (UTC).',
  account:
    'This account has sent as many mails to people outside today as it may; one whose own address is proven may send more. Try again tomorrow (UTC).',
  organization: 'This organization has sent as many mails to people outside today as it may. Try again tomorrow (UTC).',
};

/** Whether the mail is refused because of a daily limit of the sender, and not of the receiving address. */
export const isSendersLimit = (refusal: OutsideRefusal): boolean => refusal === 'account' || refusal === 'organization';

/** Adds the footer of a mail to outsiders. `link`: the URL of the page to unsubscribe. */
export function framed(
  text: string,
  about: { organization: string; host: string; why: OutsideReason; link: string },
): string {
  const organization = `“${shownName(about.organization)}”`;
  const { host, why, link } = about;
  const frame = [
    '________',
    `${organization} sends you this through ${host}, because ${reasons[why]}.`,
    `To get no more mails of ${organization}, or of anybody at ${host}, open:`,
    link,
  ];
  return `${text.trimEnd()}\n\n${frame.join('\n')}\n`;
}

/**
 * Headers for one-click unsubscribe in mail programs (RFC 8058). `address`: the URL of the route that takes the
 * unsubscribe request.
 */
export const objectionHeaders = (address: string): Record<string, string> => ({
  'List-Unsubscribe': `<${address}>`,
  'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
});

/** The scope in a form that a mail program or the page to unsubscribe submits; undefined for any other form. */
export function readObjection(text: string): ObjectionScope | undefined {
  const form = new URLSearchParams(text);
  if (form.get('List-Unsubscribe') === 'One-Click') return 'organization';
  return objectionScopes.find((scope) => scope === form.get('scope'));
}
