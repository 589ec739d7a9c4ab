/**
 * Limits for mails to outsiders: unsubscribed addresses, and counts per day. Addresses are stored as keyed hashes. The
 * hashes are kept longer than the mails and do not reveal the addresses.
 */
import { timingSafeEqual } from 'node:crypto';
import { takeDaily } from '../chat/allowance.ts';
import { collectionOf, defineModel } from '../base/define.ts';
import { date, string } from '../rules/base/fields.ts';
import type { SecretBox } from '../base/secretbox.ts';
import { outsideToOnePerDay, type ObjectionScope, type OutsideRefusal } from '../rules/events/outsidemail.ts';

/** Unsubscribed addresses. They never expire, so that nobody has to unsubscribe twice. */
const ObjectionModel = defineModel('MailObjection', 'mail_objections', {
  /** `<organization id, or *>:<hash of the address>`. */
  _id: string,
  created_at: date,
});

const everybody = '*';
type Keys = Pick<SecretBox, 'macs'>;
const macsOf = ({ macs }: Keys, text: string): string[] =>
  macs('mails to people outside', text).map((mac) => mac.toString('base64url').slice(0, 22));
/**
 * The hashes of an address with each secret key, newest key first, so that addresses stay unsubscribed after a key
 * rotation.
 */
const hashesOf = (keys: Keys, address: string): string[] => macsOf(keys, `address\0${address.toLowerCase()}`);
const hashOf = (keys: Keys, address: string): string => hashesOf(keys, address)[0]!;
const signaturesOf = (keys: Keys, orgId: string, hash: string): string[] =>
  macsOf(keys, `objection\0${orgId}\0${hash}`);

/** The token in a mail's unsubscribe link. It allows its bearer to unsubscribe this one address, and nothing else. */
export function objectionToken(keys: Keys, orgId: string, address: string): string {
  const hash = hashOf(keys, address);
  return `${orgId}.${hash}.${signaturesOf(keys, orgId, hash)[0]!}`;
}

/** Unsubscribes the address in a token. Returns false for a token with an invalid signature. */
export async function objectToMails(keys: Keys, token: string, scope: ObjectionScope, now: Date): Promise<boolean> {
  const [orgId = '', hash = '', signature = ''] = token.split('.');
  const given = Buffer.from(signature);
  const isOurs = signaturesOf(keys, orgId, hash).some((one) => {
    const expected = Buffer.from(one);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
  if (!isOurs) return false;
  await collectionOf(ObjectionModel).updateOne(
    { _id: `${scope === 'all' ? everybody : orgId}:${hash}` },
    { $setOnInsert: { created_at: now } },
    { upsert: true },
  );
  return true;
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

/**
 * Counts a mail before it is sent; returns the reason when it must not be sent. `perDay`: the daily limits of
 * organization and account. It is undefined when the organization's own server sends the mail; then only the limit of
 * the receiving address applies.
 */
export async function admitOutsideMail(
  { orgId, address, account, use }: OutsideMail,
  { keys, perDay }: { keys: Keys; perDay: { organization: number; account: number } | undefined },
  now: Date,
): Promise<OutsideRefusal | undefined> {
  if (await hasObjected(keys, orgId, address)) return 'objected';
  const take = (of: string, limit: number) => takeDaily(`outside_mails:${of}`, orgId, use, limit, now);
  if (!(await take(`address:${hashOf(keys, address)}`, outsideToOnePerDay))) return 'address';
  if (!perDay) return undefined;
  if (!(await take(`account:${account}`, perDay.account))) return 'account';
  if (!(await take(`organization:${orgId}`, perDay.organization))) return 'organization';
  return undefined;
}
