/** Rate limits of tool calls per minute, counted in MongoDB for all processes together. */
import { collectionOf, defineModel } from '../base/define.ts';
import { date, number, string } from '../rules/base/fields.ts';

const WindowModel = defineModel(
  'ToolRate',
  'tool_rates',
  {
    _id: string,
    count: number,
    expires_at: date,
  },
  [{ fields: { expires_at: 1 }, expireAfterSeconds: 0 }],
);

const minuteMs = 60_000;

/** `left`: the calls still allowed in this minute, which ends in `endMs`. `waitMs`: set for a call over the limit. */
export type Taken = { left: number; endMs: number; waitMs?: number };

/** Counts one call against the limit `name`. */
export async function takeCall(name: string, limit: number, now: Date): Promise<Taken> {
  const minute = Math.floor(now.getTime() / minuteMs);
  const end = (minute + 1) * minuteMs;
  const counted = await collectionOf(WindowModel).findOneAndUpdate(
    { _id: `${name}:${minute}` },
    { $inc: { count: 1 }, $setOnInsert: { expires_at: new Date(end + minuteMs) } },
    { upsert: true, returnDocument: 'after' },
  );
  const count = counted?.count ?? 1;
  const endMs = Math.max(1, end - now.getTime());
  return { left: Math.max(0, limit - count), endMs, ...(count <= limit ? {} : { waitMs: endMs }) };
}
