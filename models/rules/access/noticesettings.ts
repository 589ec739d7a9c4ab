/** How a member likes to be told what concerns the team: in the browser, by sound, and by mail. Pure. */

/** Local times `HH:MM`; from 22:00 until 07:00 passes midnight. `timezone`: an IANA name. */
type QuietHours = { from: string; until: string; timezone: string };
export type NoticeSettings = {
  browser: boolean;
  sound: boolean;
  mail: boolean;
  /** How long a notification may be unread before it is mailed to a member who is here. */
  mail_after_minutes: number;
  /** Nothing rings and no mail goes out in these hours; a mail goes out at their end. */
  quiet_hours: QuietHours | null;
};

export const initialNotices: NoticeSettings = {
  browser: true,
  sound: false,
  mail: true,
  mail_after_minutes: 5,
  quiet_hours: null,
};

/** The maximum of `mail_after_minutes`. */
export const maxMailAfterMinutes = 1_440;

const minuteMs = 60_000;
const dayMinutes = 1_440;
const minutesOf = (time: string): number => {
  const [hours, minutes] = time.split(':').map(Number);
  return hours! * 60 + minutes!;
};

/** When the quiet hours end that a moment is in; the moment itself when it is in none. */
function quietEnd({ from, until, timezone }: QuietHours, at: Date): Date {
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone: timezone, timeStyle: 'short' });
  const since = (time: string, start: string) => (minutesOf(time) - minutesOf(start) + dayMinutes) % dayMinutes;
  const local = clock.format(at);
  if (since(local, from) >= since(until, from)) return at;
  const end = (Math.floor(at.getTime() / minuteMs) + since(until, local)) * minuteMs;
  // An hour early or late when the clocks have changed meanwhile.
  const late = ((since(clock.format(end), until) + dayMinutes / 2) % dayMinutes) - dayMinutes / 2;
  return new Date(end - late * minuteMs);
}

/** When a member is mailed unless the notification is read before: at once if not here, but never in quiet hours. */
export function mailDueAt({ mail_after_minutes, quiet_hours }: NoticeSettings, here: boolean, now: Date): Date {
  const due = new Date(now.getTime() + (here ? mail_after_minutes * minuteMs : 0));
  return quiet_hours === null ? due : quietEnd(quiet_hours, due);
}
