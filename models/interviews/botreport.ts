/**
 * What services report of their bots: each report once, stored before it is acknowledged, together with the intent to tell
 * the interview's workflow. It only says that there is news; the workflow asks the service itself.
 */
import { isDuplicate } from '../base/connect.ts';
import { collectionOf, defined, defineModel } from '../base/define.ts';
import { pendingField, pendingIndex, type Intent } from '../base/pending.ts';
import { modes, type Mode } from '../rules/access/keys.ts';

export type BotReport = {
  /** The service's id of the report, which stays the same when it is sent again. */
  _id: string;
  org_id: string;
  mode: Mode;
  bot_id: string;
  event: string;
  /** Absent when no interview has this bot. */
  interview_id?: string;
  received_at: Date;
  expires_at: Date;
  pending?: Intent[];
};

/** Services send a report again for a day. */
const keptDays = 3;
export const reportExpiry = (now: Date): Date => new Date(now.getTime() + keptDays * 86_400_000);

export const BotReportModel = defineModel<BotReport>(
  'BotReport',
  'bot_reports',
  {
    _id: { type: String, required: true },
    org_id: { type: String, required: true },
    mode: { type: String, enum: modes, required: true },
    bot_id: { type: String, required: true },
    event: { type: String, required: true },
    interview_id: String,
    received_at: { type: Date, required: true },
    expires_at: { type: Date, required: true },
    pending: pendingField,
  },
  [{ fields: { expires_at: 1 }, expireAfterSeconds: 0 }, pendingIndex],
);

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
