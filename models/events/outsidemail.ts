/**
 * Mails to people outside: who wants none, and how many have left today. Addresses stand here as keyed hashes, which outlive what
 * was sent and say nothing of anybody.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { takeDaily } from '../chat/allowance.ts';
import { collectionOf, defineModel } from '../base/define.ts';
import { outsideToOnePerDay, type ObjectionScope, type OutsideRefusal } from '../rules/events/outsidemail.ts';

type Objection = {
  /** `<organization, or *>:<hash of the address>`. */
  _id: string;
  created_at: Date;
};

/** It has no end: whoever objected must not be asked again and again. */
const ObjectionModel = defineModel<Objection>('MailObjection', 'mail_objections', {
  _id: { type: String, required: true },
  created_at: { type: Date, required: true },
});

const everybody = '*';
const mac = (key: Buffer, text: string): string =>
  createHmac('sha256', key).update(`mails to people outside\0${text}`).digest('base64url').slice(0, 22);
const hashOf = (key: Buffer, address: string): string => mac(key, `address\0${address.toLowerCase()}`);
const signatureOf = (key: Buffer, orgId: string, hash: string): string => mac(key, `objection\0${orgId}\0${hash}`);

/** Stands in the mail to this address; whoever has it may object for the address, and to nothing else. `key`: the deployment's. */
export function objectionToken(key: Buffer, orgId: string, address: string): string {
  const hash = hashOf(key, address);
  return `${orgId}.${hash}.${signatureOf(key, orgId, hash)}`;
}

/** Stops further mails to the address of a token. False when the token is not one of ours. */
export async function objectToMails(key: Buffer, token: string, scope: ObjectionScope, now: Date): Promise<boolean> {
  const [orgId = '', hash = '', signature = ''] = token.split('.');
  const [given, expected] = [Buffer.from(signature), Buffer.from(signatureOf(key, orgId, hash))];
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return false;
  await collectionOf(ObjectionModel).updateOne(
    { _id: `${scope === 'all' ? everybody : orgId}:${hash}` },
    { $setOnInsert: { created_at: now } },
    { upsert: true },
  );
  return true;
}

/** Whether this address wants no mails of this organization, or of anybody. */
export async function hasObjected(key: Buffer, orgId: string, address: string): Promise<boolean> {
  const hash = hashOf(key, address);
  const found = await collectionOf(ObjectionModel).findOne({
    _id: { $in: [`${orgId}:${hash}`, `${everybody}:${hash}`] },
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
  { key, perDay }: { key: Buffer; perDay: { organization: number; account: number } | undefined },
  now: Date,
): Promise<OutsideRefusal | undefined> {
  if (await hasObjected(key, orgId, address)) return 'objected';
  const take = (of: string, limit: number) => takeDaily(`outside_mails:${of}`, orgId, use, limit, now);
  if (!(await take(`address:${hashOf(key, address)}`, outsideToOnePerDay))) return 'address';
  if (!perDay) return undefined;
  if (!(await take(`account:${account}`, perDay.account))) return 'account';
  if (!(await take(`organization:${orgId}`, perDay.organization))) return 'organization';
  return undefined;
}
