/** What an organization may use in a window of time, counted by what used it: asking again for the same use takes nothing more. */
import { isDuplicate } from './connect.ts';
import { collectionOf, defineModel } from './define.ts';

export type Allowance = {
  /** `<what>:<organization>:<number of the window>`. */
  _id: string;
  org_id: string;
  /** Ids of what has used it. */
  uses: string[];
  expires_at: Date;
};

const AllowanceModel = defineModel<Allowance>(
  'Allowance',
  'allowances',
  {
    _id: { type: String, required: true },
    org_id: { type: String, required: true },
    uses: { type: [String], required: true },
    expires_at: { type: Date, required: true },
  },
  [{ fields: { org_id: 1 } }, { fields: { expires_at: 1 }, expireAfterSeconds: 0 }],
);

const MINUTE_MS = 60_000;

/**
 * Takes one of `limit` answers that a test organization may have in a minute of the clock, for this message. False when
 * they are used up; of two that race for the last one only one gets it.
 */
export async function takeTestReply(orgId: string, messageId: string, limit: number, now: Date): Promise<boolean> {
  const minute = Math.floor(now.getTime() / MINUTE_MS);
  const full = `uses.${limit - 1}`;
  try {
    await collectionOf(AllowanceModel).updateOne(
      {
        _id: `test_replies:${orgId}:${minute}`,
        $or: [{ uses: messageId }, { [full]: { $exists: false } }],
      },
      {
        $addToSet: { uses: messageId },
        $setOnInsert: { org_id: orgId, expires_at: new Date((minute + 2) * MINUTE_MS) },
      },
      { upsert: true },
    );
    return true;
  } catch (error) {
    // There is one, and it is full: MongoDB tried to make another. Two that made the first one at once meet here, too.
    if (!isDuplicate(error)) throw error;
    const standing = await collectionOf(AllowanceModel).findOne({ _id: `test_replies:${orgId}:${minute}` });
    if (standing && standing.uses.length < limit) return takeTestReply(orgId, messageId, limit, now);
    return standing?.uses.includes(messageId) ?? false;
  }
}
