/** Quotas per time window. Each use has an id, so that a retry of the same use is not counted again. */
import { createHash } from 'node:crypto';
import { unlessDuplicate } from '../base/connect.ts';
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { date, list, string } from '../rules/base/fields.ts';

const AllowanceModel = defineModel(
  'Allowance',
  'allowances',
  {
    /** The id: `<quota>:<window>`. */
    _id: string,
    /** The organization of the first use; other organizations may use a quota that belongs to an account. */
    org_id: string,
    /**
     * Hashes of the ids of the uses. They reveal nothing, so they may be kept after the records with these ids are
     * deleted.
     */
    uses: list(string),
    expires_at: date,
  },
  [{ fields: { org_id: 1 } }, { fields: { expires_at: 1 }, expireAfterSeconds: 0 }],
);
export type Allowance = RecordOf<typeof AllowanceModel>;

/** A time window: its name, and when its record expires. */
type Window = { name: string; ends: Date };

const minuteMs = 60_000;

/**
 * Takes one of the `limit` answers that the agent may give in an organization's test mode in one clock minute.
 * `messageId` identifies the use. False when the answers of this minute are used up. Of two concurrent calls for the
 * last answer, only one succeeds.
 */
export function takeTestReply(orgId: string, messageId: string, limit: number, now: Date): Promise<boolean> {
  const minute = Math.floor(now.getTime() / minuteMs);
  const window = { name: String(minute), ends: new Date((minute + 2) * minuteMs) };
  return take(`test_replies:${orgId}`, orgId, messageId, limit, window);
}

/** Takes one of the `limit` conversations that may begin in test mode in a calendar month (UTC). */
export function takeTestConversation(orgId: string, convId: string, limit: number, now: Date): Promise<boolean> {
  const window = {
    name: now.toISOString().slice(0, 7),
    ends: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 2)),
  };
  return take(`test_conversations:${orgId}`, orgId, convId, limit, window);
}

/** Takes one of `limit` uses in a day (UTC). `what` names the quota and its owner. */
export function takeDaily(what: string, orgId: string, use: string, limit: number, now: Date): Promise<boolean> {
  const name = now.toISOString().slice(0, 10);
  const ends = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 2));
  return take(what, orgId, use, limit, { name, ends });
}

async function take(
  what: string,
  orgId: string,
  usedBy: string,
  limit: number,
  { name, ends }: Window,
): Promise<boolean> {
  const id = `${what}:${name}`;
  const use = createHash('sha256').update(usedBy).digest('base64url').slice(0, 22);
  const full = `uses.${limit - 1}`;
  const taken = await unlessDuplicate(() =>
    collectionOf(AllowanceModel).updateOne(
      { _id: id, $or: [{ uses: use }, { [full]: { $exists: false } }] },
      { $addToSet: { uses: use }, $setOnInsert: { org_id: orgId, expires_at: ends } },
      { upsert: true },
    ),
  );
  if (taken) return true;
  // The upsert failed as a duplicate. Either the record is full: the filter did not match, and MongoDB tried to insert
  // a second record. Or another process inserted the record at the same time.
  const standing = await collectionOf(AllowanceModel).findOne({ _id: id });
  if (standing && standing.uses.length < limit) return take(what, orgId, usedBy, limit, { name, ends });
  return standing?.uses.includes(use) ?? false;
}
