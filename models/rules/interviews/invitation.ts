/**
 * The mails that tell a candidate about a scheduled interview: the invitation, its updates and its cancellation. Pure.
 */
import { isAhead, type InterviewStatus, type Move } from './interview.ts';
import { shownName } from '../access/accountmail.ts';
import { defined } from '../base/defined.ts';

/** A stored invitation mail. Its text and link are made at the time of sending. */
export type Invitation = {
  /** The number of the mail within the interview, from 0: the SEQUENCE of RFC 5545. */
  sequence: number;
  email: string;
  /** The time of the interview, ISO 8601. */
  at: string;
  /** The URL of the external call; absent when the interview is in the platform's room. */
  meeting_url?: string;
  /** The interview's `replaced` when the mail was stored; absent if the interview had none or the call is external. */
  replaced?: number;
  /** Whether the mail cancels the invitation of this address. */
  over?: true;
};

export const invitationEvent = 'interview.invitation';
/** The event id of a mail. The id is deterministic, so the same mail is stored once. */
export const invitationId = (interviewId: string, sequence: number): string => `invitation:${interviewId}:${sequence}`;
/** The delivery line of an interview's mails. Deliveries of one line are sent one after the other, in order. */
export const invitationLine = (interviewId: string): string => `invitation:${interviewId}`;

type Planned = {
  status: InterviewStatus;
  history: readonly Pick<Move, 'operation' | 'from'>[];
  candidate: { email?: string };
  scheduled_at?: Date;
  /** How often another address has replaced the candidate's. */
  replaced?: number;
  /** The latest stored mail. */
  invited?: Invitation;
};

/** Whether a member has cancelled the interview before it took place. */
function isCalledOff({ status, history }: Pick<Planned, 'status' | 'history'>): boolean {
  const last = history.at(-1);
  return status === 'cancelled' && last?.operation === 'cancel' && (isAhead(last.from) || last.from === 'bot_deployed');
}

/**
 * The next mail to send. Undefined when the latest mail is still correct, the candidate has no address, or the
 * interview has no time in the future. `elsewhere`: the URL of the external call.
 */
export function nextInvitation(planned: Planned, elsewhere: string | undefined, now: Date): Invitation | undefined {
  const { status, candidate, scheduled_at, invited } = planned;
  const standing = invited?.over ? undefined : invited;
  const sequence = (invited?.sequence ?? -1) + 1;
  if (isCalledOff(planned)) return standing && { ...standing, sequence, over: true };
  const { email } = candidate;
  if (!isAhead(status) || email === undefined || !scheduled_at || scheduled_at <= now) return undefined;
  if (standing && standing.email !== email) return { ...standing, sequence, over: true };
  const at = scheduled_at.toISOString();
  // If the address was replaced and then restored, the address is the same, but the link into the room is a new one.
  const replaced = elsewhere === undefined ? planned.replaced : undefined;
  if (standing?.at === at && standing.meeting_url === elsewhere && standing.replaced === replaced) return undefined;
  return { sequence, email, at, ...defined({ meeting_url: elsewhere, replaced }) };
}

/** The duration in the candidate's calendar, in ms: a guess, because interviews have no planned duration. */
const calendarMs = 3_600_000;
export const endInCalendar = (at: string): Date => new Date(Date.parse(at) + calendarMs);

const moment = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'short', timeZone: 'UTC' });

const maxTitle = 150;

/**
 * The title, subject and text of an invitation mail. `link`: the URL of the room or the external call. `isFirst`: true
 * when no earlier mail has reached the candidate.
 */
export function invitationText(
  { at, meeting_url, over }: Invitation,
  about: { organization: string; role: string; name: string | undefined; link: string; isFirst: boolean },
): { title: string; subject: string; text: string } {
  const { organization, role, name, link, isFirst } = about;
  const title = `Interview for ${shownName(role)} at ${shownName(organization)}`.slice(0, maxTitle).trim();
  const called = shownName(name ?? '');
  const hello = called === '' ? 'Hello,' : `Hello ${called},`;
  const time = `When: ${moment.format(new Date(at))} (UTC)`;
  if (over) {
    const text = [hello, `The ${lower(title)} does not take place:`, time];
    return { title, subject: `Cancelled: ${title}`, text: `${text.join('\n\n')}\n` };
  }
  const said = isFirst ? `You are invited to an ${lower(title)}.` : `This is what holds now of your ${lower(title)}.`;
  const where = meeting_url === undefined ? 'The link opens the interview in your browser when it begins.' : undefined;
  const calendar = 'The calendar file in this mail shows the time in your own time zone.';
  const text = [hello, said, `${time}\nWhere: ${link}`, [where, calendar].filter(Boolean).join(' ')];
  return { title, subject: isFirst ? title : `Updated: ${title}`, text: `${text.join('\n\n')}\n` };
}

const lower = (title: string): string => title.replace(/^I/, 'i');
