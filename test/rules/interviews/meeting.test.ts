/** Settings, retention and times of meetings. */
import { describe, expect, it } from '@jest/globals';
import { expiryOf, givenSettings } from '../../../models/rules/interviews/meeting.ts';
import { momentOf } from '../../../models/rules/interviews/transcript.ts';

describe('givenSettings', () => {
  it('are those that are given, and no others', () => {
    const given = { personality: 'analyst', timezone: 'Europe/Berlin', proactive_suggest: undefined } as const;
    expect(givenSettings(given, ['body'])).toStrictEqual({ personality: 'analyst', timezone: 'Europe/Berlin' });
  });
  it('refuses a time zone that does not exist, by name', () => {
    expect(() => givenSettings({ timezone: 'Mars/Olympus' }, ['body', 'settings'])).toThrow('settings.timezone');
  });
});

describe('expiryOf', () => {
  it('is so many days after the start', () => {
    expect(expiryOf(new Date('2026-11-20T09:00:00.000Z'), 30).toISOString()).toBe('2026-12-20T09:00:00.000Z');
  });
});

describe('momentOf', () => {
  it('reads a zone', () => {
    expect(momentOf('2026-11-20T10:00:00+01:00', []).toISOString()).toBe('2026-11-20T09:00:00.000Z');
  });
  it.each(['0000-01-01T00:00:00+23:59', '9999-12-31T23:59:59-23:59', '1969-12-31T23:59:59Z'])(
    'refuses %s, which no clock shows',
    (text) => expect(() => momentOf(text, ['body', 'segments', 0, 'timestamp'])).toThrow('segments[0].timestamp'),
  );
});
