/**
 * Messages that Amazon SNS sends over HTTPS: their fields, the text that is signed, and which URLs in them may be
 * fetched. Pure.
 */
import { portOf, readEgressEntry } from '../../models/rules/base/address.ts';

const snsTypes = ['Notification', 'SubscriptionConfirmation', 'UnsubscribeConfirmation'] as const;
export type SnsType = (typeof snsTypes)[number];

export type SnsMessage = {
  Type: SnsType;
  MessageId: string;
  TopicArn: string;
  Message: string;
  Timestamp: string;
  SignatureVersion: '1' | '2';
  Signature: string;
  SigningCertURL: string;
  Subject?: string;
  SubscribeURL?: string;
  Token?: string;
};

const required = [
  'Type',
  'MessageId',
  'TopicArn',
  'Message',
  'Timestamp',
  'SignatureVersion',
  'Signature',
  'SigningCertURL',
];
const optional = ['Subject', 'SubscribeURL', 'Token'];

/** Parses a body; undefined when it is no SNS message or a required field of its type is missing. */
export function readSnsMessage(body: string): SnsMessage | undefined {
  let fields: Record<string, unknown>;
  try {
    fields = JSON.parse(body) as Record<string, unknown>;
  } catch {
    return undefined;
  }
  if (typeof fields !== 'object' || fields === null) return undefined;
  const isText = (name: string): boolean => typeof fields[name] === 'string';
  if (!required.every(isText) || !snsTypes.includes(fields['Type'] as SnsType)) return undefined;
  // JSON may contain null for a missing field.
  if (optional.some((name) => fields[name] !== undefined && fields[name] !== null && !isText(name))) return undefined;
  if (fields['SignatureVersion'] !== '1' && fields['SignatureVersion'] !== '2') return undefined;
  const isConfirmation = fields['Type'] !== 'Notification';
  if (isConfirmation && !(isText('SubscribeURL') && isText('Token'))) return undefined;
  return Object.fromEntries(
    [...required, ...optional].filter(isText).map((name) => [name, fields[name]]),
  ) as SnsMessage;
}

const signedFields: Readonly<Record<SnsType, readonly (keyof SnsMessage)[]>> = {
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
