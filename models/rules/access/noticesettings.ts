/** Quiet hours in local times `HH:MM`; a span such as 22:00 to 07:00 goes over midnight. `timezone`: an IANA name. */
type QuietHours = { from: string; until: string; timezone: string };
export type NoticeSettings = {
  browser: boolean;
  sound: boolean;
  mail: boolean;
  /** How long a notification may be unread before it is mailed to a member who is online and not set to away. */
  mail_after_minutes: number;
  /**
   * In these hours, no sound is played, no browser notification is shown and no mail is sent. A mail that is due in
   * these hours is sent when they end.
   */
  quiet_hours: QuietHours | null;
};

export const initialNotices: NoticeSettings = {
  browser: true,
  sound: false,
  mail: true,
  mail_after_minutes: 5,
  quiet_hours: null,
};

export const maxMailAfterMinutes = 1_440;

const minuteMs = 60_000;
const dayMinutes = 1_440;
const minutesOf = (time: string): number => {
  const [hours, minutes] = time.split(':').map(Number);
  return hours! * 60 + minutes!;
};

/** The end of the quiet hours in which a moment lies; the moment itself when it lies outside them. */
function quietEnd({ from, until, timezone }: QuietHours, at: Date): Date {
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone: timezone, timeStyle: 'short' });
  const since = (time: string, start: string) => (minutesOf(time) - minutesOf(start) + dayMinutes) % dayMinutes;
  const local = clock.format(at);
  if (since(local, from) >= since(until, from)) return at;
  const end = (Math.floor(at.getTime() / minuteMs) + since(until, local)) * minuteMs;
  // When the clocks change between `at` and `end`, `end` is too early or too late, usually by an hour. `late` is this
  // error.
  const late = ((since(clock.format(end), until) + dayMinutes / 2) % dayMinutes) - dayMinutes / 2;
  return new Date(end - late * minuteMs);
}

/**
 * When a member gets the mail about a notification that is still unread. A member who is `here` gets it after
 * `mail_after_minutes`, and any other member at once. A mail that is due in quiet hours waits until their end.
 */
export function mailDueAt({ mail_after_minutes, quiet_hours }: NoticeSettings, here: boolean, now: Date): Date {
  const due = new Date(now.getTime() + (here ? mail_after_minutes * minuteMs : 0));
  return quiet_hours === null ? due : quietEnd(quiet_hours, due);
}
