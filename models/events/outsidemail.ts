/**
 * Mails to people outside: who wants none, and how many have left today. Addresses stand here as keyed hashes, which outlive what
 * was sent and say nothing of anybody.
 */
import { timingSafeEqual } from 'node:crypto';
import { takeDaily } from '../chat/allowance.ts';
import { collectionOf, defineModel } from '../base/define.ts';
import { date, string } from '../rules/base/fields.ts';
import type { SecretBox } from '../base/secretbox.ts';
import { outsideToOnePerDay, type ObjectionScope, type OutsideRefusal } from '../rules/events/outsidemail.ts';

/** It has no end: whoever objected must not be asked again and again. */
const ObjectionModel = defineModel('MailObjection', 'mail_objections', {
  /** `<organization, or *>:<hash of the address>`. */
  _id: string,
  created_at: date,
});

const everybody = '*';
type Keys = Pick<SecretBox, 'macs'>;
const macsOf = ({ macs }: Keys, text: string): string[] =>
  macs('mails to people outside', text).map((mac) => mac.toString('base64url').slice(0, 22));
/** By each secret key, the newest first: who objected before a change of the key is known again. */
const hashesOf = (keys: Keys, address: string): string[] => macsOf(keys, `address\0${address.toLowerCase()}`);
const hashOf = (keys: Keys, address: string): string => hashesOf(keys, address)[0]!;
const signaturesOf = (keys: Keys, orgId: string, hash: string): string[] =>
  macsOf(keys, `objection\0${orgId}\0${hash}`);

/** Stands in the mail to this address; whoever has it may object for the address, and to nothing else. */
export function objectionToken(keys: Keys, orgId: string, address: string): string {
  const hash = hashOf(keys, address);
  return `${orgId}.${hash}.${signaturesOf(keys, orgId, hash)[0]!}`;
}

/** Stops further mails to the address of a token. False when the token is not one of ours. */
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

/** Whether this address wants no mails of this organization, or of anybody. */
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
  /** Who has it sent. */
  account: string;
  /** The same in each attempt to send the same mail, which is counted once. */
  use: string;
};

/**
 * Counts a mail before it leaves; the refusal when it must not. `perDay` of the organization and of the account is undefined where
 * the organization's own server, which it logs in to, bears the mail: only its receiver is protected then.
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
