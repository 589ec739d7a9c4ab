/**
 * Writes the mails that tell candidates when and where an interview takes place, with a calendar file (RFC 5545). The
 * text is written at the time of sending.
 */
import {
  ICalAttendeeRole,
  ICalAttendeeStatus,
  ICalCalendar,
  ICalCalendarMethod,
  ICalEventStatus,
} from 'ical-generator';
import type { InvitationPort } from '../../providers/base/sender.ts';
import { findOrganization } from '../../models/access/organization.ts';
import { statusesOf } from '../../models/events/delivery.ts';
import { mailUse } from '../../models/events/outsidemail.ts';
import { findInterview, orderOf } from '../../models/interviews/interview.ts';
import { prepareRoom, tokensOf } from '../../models/interviews/room.ts';
import { nameOf } from '../../models/rules/access/mailbox.ts';
import { hiddenLink } from '../../models/rules/events/notification.ts';
import { isAhead, isRunning } from '../../models/rules/interviews/interview.ts';
import {
  endInCalendar,
  invitationId,
  invitationText,
  type Invitation,
} from '../../models/rules/interviews/invitation.ts';

type Stored = Invitation & { interview_id: string };

/** Writes the mail of a delivery; null when the mail is outdated or not needed any more. */
export const invitationLetterOf: InvitationPort = async (delivery, { secrets, publicUrl }) => {
  const { _id, org_id, created_at, payload } = delivery;
  const { invitation } = payload as { invitation: Stored };
  const { interview_id, sequence, email, at, meeting_url, replaced, over } = invitation;
  const [record, org] = await Promise.all([findInterview(org_id, interview_id), findOrganization(org_id)]);
  if (!record || !org) return null;
  const isFirst = await wasNeverTold(org_id, invitation);
  const { invited } = record;
  const isOutdated = (invited?.sequence ?? 0) > sequence;
  // A redelivered cancellation is outdated only when its address is invited again. A replaced candidate still gets it.
  if (over ? isFirst || (isOutdated && invited?.email === email && !invited.over) : isOutdated) return null;
  if (!over && !isAhead(record.status) && !isRunning(record.status)) return null;
  const room = over || meeting_url !== undefined ? undefined : await prepareRoom(orderOf(record), secrets);
  // The candidate was replaced after this mail was stored, and the room's link is only for the new candidate.
  if (room && room.replaced !== replaced) return null;
  const link = room ? `${publicUrl}/rooms/${tokensOf(room, secrets).candidate}` : (meeting_url ?? '');
  const hidden = meeting_url ?? `${publicUrl}/rooms/${hiddenLink}`;
  // The cancellation to a replaced candidate must not say the name of the new one.
  const name = record.candidate.email === email ? record.candidate.name : undefined;
  const about = { organization: org.name, role: record.role_title, name, isFirst };
  return {
    to: { name: nameOf(name ?? ''), address: email },
    fromName: org.name,
    outside: { organization: org.name, why: 'interview', account: record.created_by, use: mailUse(_id, delivery) },
    words({ from, shown }) {
      const { title, subject, text } = invitationText(invitation, { ...about, link: shown ? hidden : link });
      if (shown) return { subject, text };
      const method = over ? ICalCalendarMethod.CANCEL : ICalCalendarMethod.REQUEST;
      const calendar = new ICalCalendar({ method, prodId: { company: 'support-platform', product: 'interviews' } });
      calendar.createEvent({
        id: `${interview_id}@${new URL(publicUrl).hostname}`,
        sequence,
        // The delivery's creation time is equal in every attempt, so that retries send identical files.
        stamp: created_at,
        start: new Date(at),
        end: endInCalendar(at),
        summary: title,
        ...(over ? {} : { location: link, url: link }),
        status: over ? ICalEventStatus.CANCELLED : ICalEventStatus.CONFIRMED,
        organizer: { name: org.name, email: from.address },
        attendees: [{ email, rsvp: false, role: ICalAttendeeRole.REQ, status: ICalAttendeeStatus.NEEDSACTION }],
      });
      return { subject, text, calendar: { method, content: calendar.toString() } };
    },
  };
};

/** Whether no earlier mail has reached this address, so that there is no invitation to cancel or to update. */
async function wasNeverTold(orgId: string, { interview_id, sequence, email }: Stored): Promise<boolean> {
  const before = Array.from({ length: sequence }, (_, n) => invitationId(interview_id, n));
  const earlier = await statusesOf(orgId, before);
  // Old deliveries are deleted. A deleted one may have reached this address, so the address then counts as told.
  const isComplete = earlier.length === sequence;
  return isComplete && !earlier.some(({ destination, status }) => destination === email && status === 'delivered');
}
