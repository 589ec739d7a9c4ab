import { describe, expect, it } from '@jest/globals';
import { keptUntil } from '../../../models/rules/chat/retention.ts';

describe('the expiry of a test record', () => {
  it.each([
    ['2026-01-01T00:00:00.000Z', 0, '2026-02-01T00:00:00.000Z'],
    ['2026-01-01T23:59:59.999Z', 0, '2026-02-01T00:00:00.000Z'],
    ['2026-01-02T00:00:00.000Z', 0, '2026-02-02T00:00:00.000Z'],
    ['2026-01-01T12:00:00.000Z', 2, '2026-02-03T00:00:00.000Z'],
  ])('a test record used at %s with %i extra days expires at %s', (now, more, end) => {
    expect(keptUntil('test', new Date(now), more)).toEqual({ expires_at: new Date(end) });
  });

  it('a live record has no expiry', () => {
    expect(keptUntil('live', new Date())).toEqual({});
  });
});
