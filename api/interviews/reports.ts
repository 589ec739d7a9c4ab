/**
 * Webhooks of meeting bot services: each report is verified, stored once, and passed on to the interview's workflow.
 */
import type { Context } from '../context.ts';
import type { SignatureProvider } from '../access/auth.ts';
import { launch } from '../../workflows/start.ts';
import { attendeeId, readAttendeeReport, readReport, verifiedId, type Report } from '../../providers/recall/verify.ts';
import { BotReportModel, storeReport, type BotReport } from '../../models/interviews/botreport.ts';
import { findByBot, findInterview } from '../../models/interviews/interview.ts';
import { Problem } from '../../models/rules/base/errors.ts';
import { botKey, isFinal, isRunning, type BotKind } from '../../models/rules/interviews/interview.ts';
import { interviewWork } from '../../models/rules/interviews/work.ts';
import { expiryOf } from '../../models/rules/base/retention.ts';

type Service = Exclude<BotKind, 'room'>;
const services = {
  recall: { header: 'webhook-signature', idOf: verifiedId, read: readReport },
  attendee: { header: 'x-webhook-signature', idOf: attendeeId, read: readAttendeeReport },
} as const satisfies Record<Service, object>;

/** Every report is refused while no webhook secret is configured, or while another service is configured. */
const signedBy = (name: Service): SignatureProvider => ({
  name,
  header: services[name].header,
  async verify({ headers, body, now }, { config }) {
    const { service, webhookSecret: secret } = config.meetingBots;
    const id = service !== name || secret === undefined ? undefined : services[name].idOf(headers, body, secret, now);
    if (id === undefined)
      throw new Problem('UNAUTHENTICATED', { message: 'This message was not signed for us, or too long ago.' });
    return { id };
  },
});
export const recall = signedBy('recall');
export const attendee = signedBy('attendee');

/**
 * Stores a report and wakes the workflow of the interview whose bot it names. A repeated report, or one about an
 * unknown bot, has no effect.
 */
export async function takeReport(ctx: Context, service: Service, id: string, body: Buffer): Promise<void> {
  const read = services[service].read(body);
  if (!read) {
    // No workflow waits for a report that names no bot or cannot be parsed, so nothing is stored.
    ctx.log.info({ service, report: id }, 'a report was ignored: it is about no bot, or has another form');
    return;
  }
  const now = ctx.clock();
  const found = await interviewOf(service, read);
  const report: BotReport = {
    _id: `${service}:${id}`,
    org_id: found?.org_id ?? 'none',
    mode: found?.mode ?? 'live',
    bot_id: read.botId,
    event: read.event,
    ...(found ? { interview_id: found._id } : {}),
    received_at: now,
    expires_at: expiryOf('bot_reports', now),
  };
  if (!found || isFinal(found.state.status)) {
    await storeReport(report);
    return;
  }
  const work = interviewWork(found.org_id, found._id, 'reported');
  await launch(ctx, BotReportModel, [work], ([intent]) => storeReport({ ...report, pending: [intent] }));
}

/**
 * The interview that has this bot, or whose workflow is sending it now. The service's first report may arrive before
 * its reply to the request that sends the bot.
 */
async function interviewOf(kind: Service, { botId, sentWith }: Report) {
  const known = await findByBot({ kind, id: botId });
  if (known || !sentWith) return known;
  const sending = await findInterview(sentWith.org_id, sentWith.interview_id);
  if (!sending || !isRunning(sending.status) || sending.state.bot) return null;
  return sentWith.key === botKey(sending._id, sending.state.sent) ? sending : null;
}
