/**
 * Reports of the meeting services about their bots. Each report is stored once, before it is acknowledged, together
 * with the intent to signal the interview's workflow. A report only says that there is news; the workflow asks the
 * service itself.
 */
import { unlessDuplicate } from '../base/connect.ts';
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { date, oneOf, optional, string } from '../rules/base/fields.ts';
import { pendingField, pendingIndex } from '../base/pending.ts';
import { modes } from '../rules/access/keys.ts';
import { defined } from '../rules/base/defined.ts';

export const BotReportModel = defineModel(
  'BotReport',
  'bot_reports',
  {
    /** The service's id of the report. A repeated report has the same id. */
    _id: string,
    org_id: string,
    mode: oneOf(modes),
    bot_id: string,
    event: string,
    /** The interview that has this bot; absent when there is none. */
    interview_id: optional(string),
    received_at: date,
    expires_at: date,
    pending: pendingField,
  },
  [{ fields: { expires_at: 1 }, expireAfterSeconds: 0 }, pendingIndex],
);
export type BotReport = RecordOf<typeof BotReportModel>;

/** Stores a report; null when it was stored before. */
export async function storeReport(report: BotReport): Promise<BotReport | null> {
  return (await unlessDuplicate(() => collectionOf(BotReportModel).insertOne(defined(report)))) ? report : null;
}
