/**
 * Amazon SNS's messages over HTTPS: their fields, what of them is signed, and which addresses in them may be called. Pure.
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

/** The message in a body; undefined when it is none, or lacks a field of its type. */
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
  // JSON may say null for what is not there.
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

/** What the signature of a message is made of: names and values in this order, of the fields that are there. */
export const signedText = (message: SnsMessage): string =>
  signedFields[message.Type]
    .filter((name) => message[name] !== undefined)
    .map((name) => `${name}\n${message[name]}\n`)
    .join('');

/** SNS tries for an hour; a message may be as much older or newer than now, in ms. */
const snsWindowMs = 3_600_000;

export function isFresh({ Timestamp }: Pick<SnsMessage, 'Timestamp'>, now: Date): boolean {
  const at = Date.parse(Timestamp);
  return Math.abs(now.getTime() - at) <= snsWindowMs;
}

/** Amazon's hosts of SNS. */
const snsHost = /^sns\.[a-zA-Z0-9-]{3,}\.amazonaws\.com(?:\.cn)?$/;

/** `certHosts`: further hosts, which may have a port of their own. `egressAllow`: hosts that plain http may be used with. */
export type SnsHosts = { certHosts: readonly string[]; egressAllow: readonly string[] };

/** Whether an address in a message may be called: at Amazon, by https and without a port; else at a host of the operator's. */
export function isSnsAddress(text: string, { certHosts, egressAllow }: SnsHosts): boolean {
  const url = URL.parse(text);
  if (!url || url.username !== '' || url.password !== '') return false;
  if (url.protocol === 'https:' && url.port === '' && snsHost.test(url.hostname)) return true;
  if (!isNamed(url, certHosts)) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isNamed(url, egressAllow));
}

/** Whether it is one of these hosts, on any port unless the entry has one. */
function isNamed(url: URL, entries: readonly string[]): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase();
  return entries.some((text) => {
    const entry = readEgressEntry(text);
    return entry?.hostname === host && (entry.port ?? portOf(url)) === portOf(url);
  });
}

/** Whether the certificate of a message may be fetched from there. */
export const isCertAddress = (text: string, hosts: SnsHosts): boolean =>
  isSnsAddress(text, hosts) && (URL.parse(text)?.pathname.endsWith('.pem') ?? false);
