/**
 * Messages that Amazon SNS sends over HTTPS: their fields, the text that is signed, and which URLs in them may be
 * fetched.
 */
import { z } from 'zod';
import { portOf, readEgressEntry } from '../../models/rules/base/address.ts';
import { jsonIn } from '../../models/rules/base/json.ts';

const text = z.string();
/** JSON may contain null for a missing field. */
const optionalText = text
  .nullable()
  .transform((value) => value ?? undefined)
  .optional();
const snsMessage = z
  .object({
    Type: z.enum(['Notification', 'SubscriptionConfirmation', 'UnsubscribeConfirmation']),
    MessageId: text,
    TopicArn: text,
    Message: text,
    Timestamp: text,
    SignatureVersion: z.enum(['1', '2']),
    Signature: text,
    SigningCertURL: text,
    Subject: optionalText,
    SubscribeURL: optionalText,
    Token: optionalText,
  })
  .refine(
    ({ Type, SubscribeURL, Token }) => Type === 'Notification' || (SubscribeURL !== undefined && Token !== undefined),
  );
export type SnsMessage = z.infer<typeof snsMessage>;

/** Parses a body; undefined when it is no SNS message or a required field of its type is missing. */
export const readSnsMessage = (body: string): SnsMessage | undefined => snsMessage.safeParse(jsonIn(body)).data;

const signedFields: Readonly<Record<SnsMessage['Type'], readonly (keyof SnsMessage)[]>> = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
  UnsubscribeConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
};

/** The text that is signed: the names and values of the present fields, in SNS's order. */
export const signedText = (message: SnsMessage): string =>
  signedFields[message.Type]
    .filter((name) => message[name] !== undefined)
    .map((name) => `${name}\n${message[name]}\n`)
    .join('');

/** SNS retries for an hour, so a message's timestamp may differ from now by this much, in ms. */
const snsWindowMs = 3_600_000;

export function isFresh({ Timestamp }: Pick<SnsMessage, 'Timestamp'>, now: Date): boolean {
  const at = Date.parse(Timestamp);
  return Math.abs(now.getTime() - at) <= snsWindowMs;
}

const snsHost = /^sns\.[a-zA-Z0-9-]{3,}\.amazonaws\.com(?:\.cn)?$/;

/** `certHosts`: additional hosts, with an optional port. `egressAllow`: hosts that may be reached by plain http. */
export type SnsHosts = { certHosts: readonly string[]; egressAllow: readonly string[] };

/**
 * Whether a URL in a message may be fetched. Amazon's hosts need https and the default port; other hosts must be listed
 * by the operator.
 */
export function isSnsAddress(text: string, { certHosts, egressAllow }: SnsHosts): boolean {
  const url = URL.parse(text);
  if (!url || url.username !== '' || url.password !== '') return false;
  if (url.protocol === 'https:' && url.port === '' && snsHost.test(url.hostname)) return true;
  if (!isNamed(url, certHosts)) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isNamed(url, egressAllow));
}

/** Whether the URL's host is listed. An entry without a port allows every port. */
function isNamed(url: URL, entries: readonly string[]): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase();
  return entries.some((text) => {
    const entry = readEgressEntry(text);
    return entry?.hostname === host && (entry.port ?? portOf(url)) === portOf(url);
  });
}

/** Whether a message's certificate may be fetched from this URL. */
export const isCertAddress = (text: string, hosts: SnsHosts): boolean =>
  isSnsAddress(text, hosts) && (URL.parse(text)?.pathname.endsWith('.pem') ?? false);
