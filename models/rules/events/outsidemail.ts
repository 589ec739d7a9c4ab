/**
 * Mails to people who did not ask for them: neither members nor customers who wrote first. Each says who sends it through what and
 * why, and how to get no more; how many leave in a day is bounded, since one account could otherwise mail strangers in the name of
 * everybody who shares the server. Pure.
 */
import { shownName } from '../access/accountmail.ts';

const reasons = {
  invitation: 'somebody there entered your address to invite you',
  task: 'somebody there entered your address as that of whoever is to do a task',
  interview: 'somebody there entered your address as that of a candidate for an interview',
} as const;
export type OutsideReason = keyof typeof reasons;

/** To one address, whoever sends them: a busy day of tasks. Whoever gets more is being flooded, so no operator raises it. */
export const outsideToOnePerDay = 10;
/** Of an account whose own address nobody has proven: enough to begin a team with. */
export const outsideUnprovenPerDay = 5;

/** Who wants no more mails: of one organization, or of anybody here. */
export const objectionScopes = ['organization', 'all'] as const;
export type ObjectionScope = (typeof objectionScopes)[number];

/** Why a mail does not leave. */
export type OutsideRefusal = 'objected' | 'address' | 'account' | 'organization';
export const outsideRefusals: Readonly<Record<OutsideRefusal, string>> = {
  objected: 'Whoever has this address wants no more such mails.',
  address: 'This address has been sent as many mails today as one address gets. Try again tomorrow (UTC).',
  account:
    'This account has sent as many mails to people outside today as it may; one whose own address is proven may send more. Try again tomorrow (UTC).',
  organization: 'This organization has sent as many mails to people outside today as it may. Try again tomorrow (UTC).',
};

/** The text with what stands under every such mail. `link`: where its reader objects. */
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

/** What lets a mail program object with one click (RFC 8058). `address`: of the route that takes it. */
export const objectionHeaders = (address: string): Record<string, string> => ({
  'List-Unsubscribe': `<${address}>`,
  'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
});

/** The scope that a form of a mail program or a page says; undefined for anything else. */
export function readObjection(text: string): ObjectionScope | undefined {
  const form = new URLSearchParams(text);
  if (form.get('List-Unsubscribe') === 'One-Click') return 'organization';
  return objectionScopes.find((scope) => scope === form.get('scope'));
}
