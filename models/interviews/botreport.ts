/**
 * What services report of their bots: each report once, stored before it is acknowledged, together with the intent to tell
 * the interview's workflow. It only says that there is news; the workflow asks the service itself.
 */
import { isDuplicate } from '../base/connect.ts';
import { collectionOf, defined, defineModel, type RecordOf } from '../base/define.ts';
import { date, oneOf, optional, string } from '../rules/base/fields.ts';
import { pendingField, pendingIndex } from '../base/pending.ts';
import { modes } from '../rules/access/keys.ts';

/** Services send a report again for a day. */
const keptDays = 3;
export const reportExpiry = (now: Date): Date => new Date(now.getTime() + keptDays * 86_400_000);

export const BotReportModel = defineModel(
  'BotReport',
  'bot_reports',
  {
    /** The service's id of the report, which stays the same when it is sent again. */
    _id: string,
    org_id: string,
    mode: oneOf(modes),
    bot_id: string,
    event: string,
    /** Absent when no interview has this bot. */
    interview_id: optional(string),
    received_at: date,
    expires_at: date,
    pending: pendingField,
  },
  [{ fields: { expires_at: 1 }, expireAfterSeconds: 0 }, pendingIndex],
);
export type BotReport = RecordOf<typeof BotReportModel>;

/** Null when it was stored before. */
export async function storeReport(report: BotReport): Promise<BotReport | null> {
  try {
    await collectionOf(BotReportModel).insertOne(defined(report) as BotReport);
    return report;
  } catch (error) {
    if (isDuplicate(error)) return null;
    throw error;
  }
}
