/** The story of a meeting's data: kept until its day, or until its owner deletes it; then removed, and looked at again. */
import { describe, expect, it } from '@jest/globals';
import { stories } from './story.ts';
import { meeting, removeNow, type MeetingRef } from '../../workflows/meeting.ts';

const { tell } = stories();
const dayMs = 86_400_000;
const ref = (days: number): MeetingRef => ({
  owner: 'usr_1',
  meetingId: 'mtg_1',
  expiresAt: new Date(Date.now() + days * dayMs).toISOString(),
});
const removal = ['removeMeeting', 'forgetMeeting', 'removeMeeting'];

describe('meeting', () => {
  it.each([1, 365, 3650])('is removed after %i days and not before', async (days) => {
    const removedAt: number[] = [];
    const { calls, skippedMs } = await tell(meeting, [ref(days)], {
      removeMeeting: async () => void removedAt.push(Date.now()),
      forgetMeeting: async () => undefined,
    });
    expect(calls).toEqual(removal);
    // The machine's clock does not jump with the server's, so the day may be missed by the length of the test.
    expect(Math.abs(skippedMs - days * dayMs - 5 * 60_000)).toBeLessThan(10 * 60_000);
  });

  it('is removed at once when its owner deletes it', async () => {
    const { calls, skippedMs } = await tell(
      meeting,
      [ref(365)],
      { removeMeeting: async () => undefined, forgetMeeting: async () => undefined },
      async (handle) => handle.signal(removeNow),
    );
    expect(calls).toEqual(removal);
    expect(skippedMs).toBeLessThan(dayMs);
  });

  it('is removed at once when its day passed while nothing ran', async () => {
    const { calls } = await tell(meeting, [ref(-3)], {
      removeMeeting: async () => undefined,
      forgetMeeting: async () => undefined,
    });
    expect(calls).toEqual(removal);
  });
});
