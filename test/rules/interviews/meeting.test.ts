import { describe, expect, it } from '@jest/globals';
import { expiryOf } from '../../../models/rules/interviews/meeting.ts';
import { momentOf } from '../../../models/rules/interviews/transcript.ts';

describe('expiryOf', () => {
  it('a meeting expires the given number of days after its start', () => {
    expect(expiryOf(new Date('2026-11-20T09:00:00.000Z'), 30).toISOString()).toBe('2026-12-20T09:00:00.000Z');
  });
});

describe('momentOf', () => {
  it('a timestamp with an offset is converted to UTC', () => {
    expect(momentOf('2026-11-20T10:00:00+01:00', []).toISOString()).toBe('2026-11-20T09:00:00.000Z');
  });
  it.each(['0000-01-01T00:00:00+23:59', '9999-12-31T23:59:59-23:59', '1969-12-31T23:59:59Z'])(
    'the timestamp %s is outside of the accepted years and is refused',
    (text) => expect(() => momentOf(text, ['body', 'segments', 0, 'timestamp'])).toThrow('segments[0].timestamp'),
  );
});
