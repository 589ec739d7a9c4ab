import { describe, expect, it } from '@jest/globals';
import { initialNotices, mailDueAt } from '../../../models/rules/access/noticesettings.ts';

const due = (now: string, { here = false, minutes = 5, quiet = undefined as [string, string, string] | undefined }) => {
  const [from = '', until = '', timezone = ''] = quiet ?? [];
  const quiet_hours = quiet ? { from, until, timezone } : null;
  return mailDueAt({ ...initialNotices, mail_after_minutes: minutes, quiet_hours }, here, new Date(now)).toISOString();
};
const night: [string, string, string] = ['22:00', '07:00', 'Europe/Berlin'];

describe('mailDueAt', () => {
  it('a notification is mailed at once to an offline member, and after the set number of minutes to an online member', () => {
    expect(due('2026-01-01T12:00:00.000Z', { here: true })).toBe('2026-01-01T12:05:00.000Z');
    expect(due('2026-01-01T12:00:00.000Z', { here: false })).toBe('2026-01-01T12:00:00.000Z');
  });

  it.each([
    ['before midnight', '2026-01-01T21:30:20.000Z', '2026-01-02T06:00:00.000Z'],
    ['after midnight', '2026-01-02T02:00:00.000Z', '2026-01-02T06:00:00.000Z'],
    ['at their first minute', '2026-01-01T21:00:00.000Z', '2026-01-02T06:00:00.000Z'],
    ['at their end', '2026-01-02T06:00:00.000Z', '2026-01-02T06:00:00.000Z'],
    ['by day', '2026-01-01T20:59:00.000Z', '2026-01-01T20:59:00.000Z'],
    ['in the night in which clocks go forward', '2026-03-29T00:30:00.000Z', '2026-03-29T05:00:00.000Z'],
    ['in the night in which clocks go back', '2026-10-25T00:30:00.000Z', '2026-10-25T06:00:00.000Z'],
  ])(
    'a notification mail due in quiet hours goes out at the end of those hours, and any other mail at once: %s',
    (_, now, at) => {
      expect(due(now, { quiet: night })).toBe(at);
    },
  );

  it('a delayed mail that falls due in quiet hours goes out at their end, and empty quiet hours delay nothing', () => {
    const evening = '2026-01-01T20:58:00.000Z';
    expect(due(evening, { here: true, quiet: night })).toBe('2026-01-02T06:00:00.000Z');
    expect(due(evening, { here: true, quiet: ['12:00', '12:00', 'UTC'] })).toBe('2026-01-01T21:03:00.000Z');
  });
});
