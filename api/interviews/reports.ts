/** Webhooks of meeting bot services: each report is verified and passed on to the interview's workflow. */
import type { Context } from '../context.ts';
import type { SignatureProvider } from '../access/auth.ts';
import { launch } from '../../workflows/start.ts';
import { attendeeId, readAttendeeReport, readReport, verifiedId, type Report } from '../../providers/recall/verify.ts';
import { findByBot, findInterview, InterviewModel, noteReport } from '../../models/interviews/interview.ts';
import { Problem } from '../../models/rules/base/errors.ts';
import { botKey, isFinal, isRunning, type BotKind } from '../../models/rules/interviews/interview.ts';
import { interviewWork } from '../../models/rules/interviews/work.ts';

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
 * Wakes the workflow of the interview whose bot a report names. The report only says that there is news; the workflow
 * asks the service itself. A repeated report, or a report about an unknown bot, has no effect.
 */
export async function takeReport(ctx: Context, service: Service, id: string, body: Buffer): Promise<void> {
  const read = services[service].read(body);
  if (!read) {
    ctx.log.info({ service, report: id }, 'a report was ignored: it is about no bot, or has another form');
    return;
  }
  const found = await interviewOf(service, read);
  if (!found || isFinal(found.state.status)) return;
  const { org_id, _id } = found;
  await launch(ctx, InterviewModel, [interviewWork(org_id, _id, 'reported')], ([intent]) =>
    noteReport(org_id, _id, `${service}:${id}`, intent),
  );
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
