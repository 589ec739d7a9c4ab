/** Queues the mail that tells a candidate when and where the interview takes place. Idempotent. */
import { send } from '../events/telling.ts';
import type { Bot } from '../../providers/recall/bot.ts';
import type { Starter } from '../../providers/base/handled.ts';
import { findOrganization, type Organization } from '../../models/access/organization.ts';
import { findInterview, noteInvited, type Interview } from '../../models/interviews/interview.ts';
import type { NotificationPayload } from '../../models/rules/events/notification.ts';
import {
  invitationEvent,
  invitationId,
  invitationLine,
  nextInvitation,
  type Invitation,
} from '../../models/rules/interviews/invitation.ts';

export type InvitationDeps = Starter & { outsideBot: Bot | undefined; clock: () => Date };
export type InvitationActivities = ReturnType<typeof createInvitationActivities>;

export function createInvitationActivities(deps: InvitationDeps) {
  const { outsideBot, clock } = deps;

  /**
   * Stores the mail. Returns the existing mail when there is already one with the same `sequence`. The mail has the
   * organization's mode and not the interview's, because an interview keeps the mode in which it was created.
   */
  async function store({ _id }: Interview, org: Organization, invitation: Invitation): Promise<Invitation> {
    const { payload } = await send(deps, {
      org_id: org._id,
      mode: org.environment === 'production' ? 'live' : 'test',
      event_id: invitationId(_id, invitation.sequence),
      event_type: invitationEvent,
      lane: 'mail',
      line: invitationLine(_id),
      destination: invitation.email,
      subject: { seq: invitation.sequence },
      about: [_id],
      payload: { invitation: { ...invitation, interview_id: _id } } satisfies NotificationPayload,
    });
    const stored = payload as { invitation: Invitation & { interview_id: string } };
    const { interview_id: _, ...made } = stored.invitation;
    return made;
  }

  return {
    async inviteCandidate({ orgId, interviewId }: { orgId: string; interviewId: string }): Promise<void> {
      for (;;) {
        const [record, org] = await Promise.all([findInterview(orgId, interviewId), findOrganization(orgId)]);
        if (!record || !org) return;
        const elsewhere = outsideBot ? record.meeting_url : undefined;
        const next = nextInvitation(record, elsewhere, clock());
        if (!next) return;
        await noteInvited(orgId, interviewId, await store(record, org, next));
      }
    },
  };
}
