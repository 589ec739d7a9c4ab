/** What the service of meeting bots reports: verified, stored once, and passed on to the interview's workflow. */
import type { Context } from '../context.ts';
import type { SignatureProvider } from '../access/auth.ts';
import { launch } from '../durable.ts';
import { leading } from './interview.ts';
import { readReport, verifiedId } from '../../clients/bot/signature.ts';
import { BotReportModel, reportExpiry, storeReport, type BotReport } from '../../models/interviews/botreport.ts';
import { findByBot } from '../../models/interviews/interview.ts';
import { Problem } from '../../models/rules/base/errors.ts';
import { isFinal } from '../../models/rules/interviews/interview.ts';
import { botReported } from '../../workflows/interview.ts';

/** Recall.ai signs as Standard Webhooks say. Without our secret, nothing is taken. */
export const recall: SignatureProvider = {
  name: 'recall',
  header: 'webhook-signature',
  async verify({ headers, body, now }, { config }) {
    const secret = config.meetingBots.webhookSecret;
    const id = secret === undefined ? undefined : verifiedId(headers, body, secret, now);
    if (id === undefined)
      throw new Problem('UNAUTHENTICATED', { message: 'This message was not signed for us, or too long ago.' });
    return { id };
  },
};

/** Stores a report and wakes the interview whose bot it is about. One that is known, or about nobody's bot, does nothing. */
export async function takeReport(ctx: Context, id: string, body: Buffer): Promise<void> {
  const read = readReport(body);
  if (!read) return;
  const now = ctx.clock();
  const found = await findByBot(read.botId);
  const report: BotReport = {
    _id: `recall:${id}`,
    org_id: found?.org_id ?? 'none',
    mode: found?.mode ?? 'live',
    bot_id: read.botId,
    event: read.event,
    ...(found ? { interview_id: found._id } : {}),
    received_at: now,
    expires_at: reportExpiry(now),
  };
  if (!found || isFinal(found.state.status)) {
    await storeReport(report);
    return;
  }
  const start = { ...leading(found.org_id, found._id), signal: botReported };
  await launch(ctx, BotReportModel, [start], ([intent]) => storeReport({ ...report, pending: [intent] }));
}
