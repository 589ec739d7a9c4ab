/**
 * Limits for mails to people outside, who are neither members nor customers who wrote first: unsubscribed addresses,
 * and counts per day. Mails about tasks to members have only a count per day; an objection does not stop them.
 * Addresses are stored as keyed hashes, which do not reveal the addresses, because these records are kept longer than
 * the mails.
 */
import { timingSafeEqual } from 'node:crypto';
import { takeDaily } from '../chat/allowance.ts';
import { collectionOf, defineModel } from '../base/define.ts';
import { date, string } from '../rules/base/fields.ts';
import type { SecretBox } from '../base/secretbox.ts';
import type { Delivery } from './delivery.ts';
import {
  outsideToOnePerDay,
  taskMailsToMemberPerDay,
  type ObjectionScope,
  type OutsideRefusal,
} from '../rules/events/outsidemail.ts';

/** Unsubscribed addresses. They never expire, so that nobody has to unsubscribe twice. */
const ObjectionModel = defineModel('MailObjection', 'mail_objections', {
  /** `<organization id, or *>:<hash of the address>`. */
  _id: string,
  created_at: date,
});

const everybody = '*';
/** The end of a token that may stop the mails of all organizations. */
const reachesAll = '.all';
type Keys = Pick<SecretBox, 'macs'>;
const macsOf = ({ macs }: Keys, text: string): string[] =>
  macs('mails to people outside', text).map((mac) => mac.toString('base64url').slice(0, 22));
/**
 * The hashes of an address with each secret key, newest key first, so that addresses stay unsubscribed after a key
 * rotation.
 */
const hashesOf = (keys: Keys, address: string): string[] => macsOf(keys, `address\0${address.toLowerCase()}`);
const hashOf = (keys: Keys, address: string): string => hashesOf(keys, address)[0]!;
/** `end`: the end of the token, which is empty unless the token may stop the mails of all organizations. */
const signaturesOf = (keys: Keys, orgId: string, hash: string, end: string): string[] =>
  macsOf(keys, `objection\0${orgId}\0${hash}${end}`);

/**
 * The token in a mail's unsubscribe link. It allows its bearer to unsubscribe this one address, and nothing else.
 * `reach`: what the token may stop at most. A token that may stop the mails of all organizations ends with `.all`,
 * which tells the unsubscribe page to offer that. The signature covers the end.
 */
export function objectionToken(keys: Keys, orgId: string, address: string, reach: ObjectionScope): string {
  const hash = hashOf(keys, address);
  const end = reach === 'all' ? reachesAll : '';
  return `${orgId}.${hash}.${signaturesOf(keys, orgId, hash, end)[0]!}${end}`;
}

/**
 * Unsubscribes the address in a token. Returns what is stopped, which is only `organization` if the token may not stop
 * more. Undefined for a token with an invalid signature.
 */
export async function objectToMails(
  keys: Keys,
  token: string,
  scope: ObjectionScope,
  now: Date,
): Promise<ObjectionScope | undefined> {
  const end = token.endsWith(reachesAll) ? reachesAll : '';
  const [orgId = '', hash = '', signature = ''] = token.split('.');
  const given = Buffer.from(signature);
  const isOurs = signaturesOf(keys, orgId, hash, end).some((one) => {
    const expected = Buffer.from(one);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
  if (!isOurs) return undefined;
  const stopped = end === reachesAll ? scope : 'organization';
  await collectionOf(ObjectionModel).updateOne(
    { _id: `${stopped === 'all' ? everybody : orgId}:${hash}` },
    { $setOnInsert: { created_at: now } },
    { upsert: true },
  );
  return stopped;
}

/** Whether the address has unsubscribed from this organization or from all organizations. */
export async function hasObjected(keys: Keys, orgId: string, address: string): Promise<boolean> {
  const hashes = hashesOf(keys, address);
  const found = await collectionOf(ObjectionModel).findOne({
    _id: { $in: [orgId, everybody].flatMap((whose) => hashes.map((hash) => `${whose}:${hash}`)) },
  });
  return found !== null;
}

export type OutsideMail = {
  orgId: string;
  address: string;
  /** The account on whose behalf the mail is sent. */
  account: string;
  /** The idempotency key: all attempts to send one mail share it, so that the mail is counted once. */
  use: string;
};
/** A mail that is sent on behalf of no account. */
export type AddressedMail = Omit<OutsideMail, 'account'>;

/**
 * The idempotency key of a delivery's mail. `first`: the key until the delivery is redelivered. Each redelivery has a
 * key of its own, because it reaches the receiver as another mail.
 */
export const mailUse = (first: string, { redeliveries = 0 }: Pick<Delivery, 'redeliveries'>): string =>
  redeliveries > 0 ? `${first}:${redeliveries}` : first;

const take = (of: string, { orgId, use }: AddressedMail, limit: number, now: Date): Promise<boolean> =>
  takeDaily(`outside_mails:${of}`, orgId, use, limit, now);

/**
 * Counts a mail against a daily limit of its address only; returns the reason when the mail must not be sent.
 * `counter`: `reply` for a reply to an address that a visitor gave; `member` for a mail about a task to a member;
 * otherwise `address`. Replies have a counter of their own, because otherwise any visitor could use up the mails that
 * organizations may send to an address. Mails to members are counted for each organization. An objection does not stop
 * them, because it has no end, and because a member can leave the organization instead.
 */
export async function admitToAddress(
  counter: 'address' | 'reply' | 'member',
  mail: AddressedMail,
  keys: Keys,
  now: Date,
): Promise<'objected' | 'address' | undefined> {
  const { orgId, address } = mail;
  if (counter !== 'member' && (await hasObjected(keys, orgId, address))) return 'objected';
  const hash = hashOf(keys, address);
  const taken = await (counter === 'member'
    ? take(`member:${orgId}:${hash}`, mail, taskMailsToMemberPerDay, now)
    : take(`${counter}:${hash}`, mail, outsideToOnePerDay, now));
  return taken ? undefined : 'address';
}

/**
 * Counts a mail before it is sent; returns the reason when the mail must not be sent. `perDay`: the daily limits of
 * organization and account; undefined when the organization's own server sends the mail. Then only the limit of the
 * receiving address applies.
 */
export async function admitOutsideMail(
  mail: OutsideMail,
  { keys, perDay }: { keys: Keys; perDay: { organization: number; account: number } | undefined },
  now: Date,
): Promise<OutsideRefusal | undefined> {
  const refusal = await admitToAddress('address', mail, keys, now);
  if (refusal || !perDay) return refusal;
  if (!(await take(`account:${mail.account}`, mail, perDay.account, now))) return 'account';
  if (!(await take(`organization:${mail.orgId}`, mail, perDay.organization, now))) return 'organization';
  return undefined;
}
