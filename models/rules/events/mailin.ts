/**
 * Which incoming mails are ignored: mails written by programs, mails whose sender is not authenticated, and mails that
 * change nothing. Pure.
 */
import { loopHeader } from './mailout.ts';
import { tokensIn } from './replyaddress.ts';

/** Every reason why an incoming mail is ignored, with the sentence for members. */
export const mailReasons = {
  not_a_mail: 'The notification is not about a mail that was received.',
  no_recipient: 'No recipient is a reply address of this system, and the mail answers no mail that it sent.',
  bad_token: 'The reply address was not made by this system.',
  expired_token: 'The reply address has expired: the conversation ended more than 90 days ago.',
  spam: 'The mail was judged to be spam.',
  virus: 'The mail holds a virus.',
  unverified_sender: 'Neither DMARC nor a signature of the sender’s domain confirms who sent the mail.',
  not_the_customer: 'The sender is not the customer of this conversation.',
  own_mail: 'The mail was sent by this system, or comes from one of its own addresses.',
  bounce: 'The mail reports that another mail could not be delivered, or was delayed.',
  receipt: 'The mail is a receipt that another mail was read.',
  calendar: 'The mail is an invitation, or an answer to one, and says nothing else.',
  automatic: 'The mail was sent by a program, such as an out-of-office notice.',
  mailing_list: 'The mail came from a mailing list.',
  unreadable: 'The mail could not be read.',
  too_large: 'The mail is larger than 10 MiB.',
  empty: 'Nothing is left of the mail without what it quotes.',
  foreign_bucket: 'The mail lies in a bucket that INBOUND_BUCKETS does not name.',
  missing: 'The mail is no longer in its bucket.',
  setup: 'The storage announced itself; there is no mail.',
  gone: 'The customer was removed.',
  test_limit: 'The conversations that test mode has in a month are used up.',
} as const satisfies Record<string, string>;
export type MailReason = keyof typeof mailReasons;

/** A header of a mail; the name is in lower case. */
type MailHeader = readonly [name: string, value: string];

/** The headers that show whether a program wrote a mail. Other headers of an incoming mail are not kept. */
export const tellingHeaders: ReadonlySet<string> = new Set([
  'auto-submitted',
  'precedence',
  'x-autoreply',
  'x-autorespond',
  'x-auto-reply',
  'list-id',
  'list-unsubscribe',
  'x-failed-recipients',
  'return-path',
  'content-type',
  loopHeader.toLowerCase(),
]);

export type MailHead = {
  headers: readonly MailHeader[];
  /** The address in the header `From`. */
  from: string;
  /** The envelope's sender; empty for the null sender of bounces. */
  envelopeFrom: string;
  subject: string;
  /** The addresses that this system sends from, in lower case, and the domain of its reply addresses. */
  own: { addresses: readonly string[]; replyDomain: string | undefined };
};

const outOfOffice =
  /^\s*(?:automatic reply|auto(?:matic)?[- ]?reply|out of office|automatische antwort|abwesenheitsnotiz|réponse automatique|respuesta automática)\s*:/iu;

/**
 * Why a mail counts as written by a program; undefined for a person's mail. Bounces are detected before other automatic
 * mail.
 */
export function automaticReason({ headers, from, envelopeFrom, subject, own }: MailHead): MailReason | undefined {
  const valueOf = (name: string) =>
    headers
      .find(([header]) => header === name)?.[1]
      .trim()
      .toLowerCase();
  const type = valueOf('content-type') ?? '';
  if (valueOf(loopHeader.toLowerCase()) !== undefined) return 'own_mail';
  if (own.addresses.includes(from) || tokensIn([from], own.replyDomain ?? '').length > 0) return 'own_mail';
  if (/^multipart\/report\b/.test(type)) {
    if (/report-type="?delivery-status/.test(type)) return 'bounce';
    if (/report-type="?disposition-notification/.test(type)) return 'receipt';
    return 'automatic';
  }
  const returnPath = valueOf('return-path');
  const nullSender = envelopeFrom === '' || envelopeFrom === '<>' || returnPath === '<>';
  if (nullSender || valueOf('x-failed-recipients') !== undefined) return 'bounce';
  if (/^(?:mailer-daemon|postmaster)@/.test(from) || /^(?:mailer-daemon|postmaster)@/i.test(envelopeFrom))
    return 'bounce';
  const submitted = valueOf('auto-submitted');
  if (submitted !== undefined && !/^no\s*(?:;|$)/.test(submitted)) return 'automatic';
  if (/^(?:bulk|list|junk|auto_reply)\b/.test(valueOf('precedence') ?? '')) return 'automatic';
  if (['x-autoreply', 'x-autorespond', 'x-auto-reply'].some((name) => valueOf(name) !== undefined)) return 'automatic';
  if (valueOf('list-id') !== undefined || valueOf('list-unsubscribe') !== undefined) return 'mailing_list';
  return outOfOffice.test(subject) ? 'automatic' : undefined;
}

/** Results of the receiving service's checks: `PASS`, `FAIL`, `GRAY`, `PROCESSING_FAILED`, `DISABLED`, or absent. */
export type Verdicts = Partial<Record<'spam' | 'virus' | 'dkim' | 'dmarc', string | undefined>>;

/**
 * Why the sender of a mail is not trusted; undefined when the sender is authenticated. DMARC covers the domain in
 * `From`, so its result decides. For a domain without a DMARC policy, a valid DKIM signature by a domain of the
 * sender's organization is enough. `signedBy` is the domain of that signature, empty when there is none.
 */
export function distrust({ spam, virus, dkim, dmarc }: Verdicts, signedBy: string): MailReason | undefined {
  if (virus === 'FAIL') return 'virus';
  if (spam === 'FAIL') return 'spam';
  if (dmarc === 'PASS') return undefined;
  return dmarc === 'FAIL' || dkim !== 'PASS' || signedBy === '' ? 'unverified_sender' : undefined;
}
