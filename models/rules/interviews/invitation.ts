/** What a candidate is mailed of an interview that has a time: the invitation, each change of it, and that it is called off. Pure. */
import { isAhead, type InterviewStatus, type Move } from './interview.ts';
import { shownName } from '../access/accountmail.ts';
import { defined } from '../base/defined.ts';

/** One such mail, as it is stored: its words and its link are made when it is sent. */
export type Invitation = {
  /** Counts the mails of an interview from 0: the SEQUENCE of RFC 5545. */
  sequence: number;
  email: string;
  /** When it takes place, ISO 8601. */
  at: string;
  /** Where, unless it is the room of this platform. */
  meeting_url?: string;
  /** Whether it is called off for this address. */
  over?: true;
};

export const invitationEvent = 'interview.invitation';
/** The event of such a mail: the same mail is made once. */
export const invitationId = (interviewId: string, sequence: number): string => `invitation:${interviewId}:${sequence}`;
/** Those of an interview are sent one after the other. */
export const invitationLine = (interviewId: string): string => `invitation:${interviewId}`;

type Planned = {
  status: InterviewStatus;
  history: readonly Pick<Move, 'operation' | 'from'>[];
  candidate: { email?: string };
  scheduled_at?: Date;
  /** The last mail that was made. */
  invited?: Invitation;
};

/** Whether a member has called it off before it was held. */
function isCalledOff({ status, history }: Pick<Planned, 'status' | 'history'>): boolean {
  const last = history.at(-1);
  return status === 'cancelled' && last?.operation === 'cancel' && (isAhead(last.from) || last.from === 'bot_deployed');
}

/** The mail that is to be made next; undefined when the candidate knows what there is to know. `elsewhere`: the call it is held in. */
export function nextInvitation(planned: Planned, elsewhere: string | undefined, now: Date): Invitation | undefined {
  const { status, candidate, scheduled_at, invited } = planned;
  const standing = invited?.over ? undefined : invited;
  const sequence = (invited?.sequence ?? -1) + 1;
  if (isCalledOff(planned)) return standing && { ...standing, sequence, over: true };
  const { email } = candidate;
  if (!isAhead(status) || email === undefined || !scheduled_at || scheduled_at <= now) return undefined;
  if (standing && standing.email !== email) return { ...standing, sequence, over: true };
  const at = scheduled_at.toISOString();
  if (standing?.at === at && standing.meeting_url === elsewhere) return undefined;
  return { sequence, email, at, ...defined({ meeting_url: elsewhere }) };
}

/** How long it stands in the candidate's calendar: nobody says how long an interview takes. */
const calendarMs = 3_600_000;
export const endInCalendar = (at: string): Date => new Date(Date.parse(at) + calendarMs);

const moment = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'short', timeZone: 'UTC' });

const maxTitle = 150;

/** `link`: where it takes place. */
export function invitationText(
  { sequence, at, meeting_url, over }: Invitation,
  { organization, role, name, link }: { organization: string; role: string; name: string | undefined; link: string },
): { title: string; subject: string; text: string } {
  const title = `Interview for ${shownName(role)} at ${shownName(organization)}`.slice(0, maxTitle).trim();
  const called = shownName(name ?? '');
  const hello = called === '' ? 'Hello,' : `Hello ${called},`;
  const time = `When: ${moment.format(new Date(at))} (UTC)`;
  if (over) {
    const text = [hello, `The ${lower(title)} does not take place:`, time];
    return { title, subject: `Cancelled: ${title}`, text: `${text.join('\n\n')}\n` };
  }
  const said =
    sequence === 0 ? `You are invited to an ${lower(title)}.` : `This is what holds now of your ${lower(title)}.`;
  const where = meeting_url === undefined ? 'The link opens the interview in your browser when it begins.' : undefined;
  const calendar = 'The calendar file in this mail shows the time in your own time zone.';
  const text = [hello, said, `${time}\nWhere: ${link}`, [where, calendar].filter(Boolean).join(' ')];
  return { title, subject: sequence === 0 ? title : `Updated: ${title}`, text: `${text.join('\n\n')}\n` };
}

const lower = (title: string): string => title.replace(/^I/, 'i');
