/** The story of a meeting's data: kept until its day, or until its owner deletes it; then removed, and looked at again. */
import { describe, expect, it } from '@jest/globals';
import { stories } from '../story.ts';
import { meeting, removeNow, type MeetingRef } from '../../../workflows/interviews/meeting.ts';

const { tell, now } = stories();
const dayMs = 86_400_000;
const ref = async (days: number): Promise<MeetingRef> => ({
  owner: 'usr_1',
  meetingId: 'mtg_1',
  expiresAt: new Date((await now()) + days * dayMs).toISOString(),
});
const removal = ['removeMeeting', 'removeMeetingTasks', 'forgetMeeting', 'removeMeeting', 'removeMeetingTasks'];
const nothing = async () => undefined;

describe('meeting', () => {
  // This server ends every workflow after 3650 days; a real one does not.
  it.each([1, 365, 3600])('is removed after %i days and not before', async (days) => {
    const begun = await now();
    const removedAt: number[] = [];
    const { calls } = await tell(meeting, [await ref(days)], {
      removeMeeting: async () => void removedAt.push(await now()),
      forgetMeeting: nothing,
      removeMeetingTasks: nothing,
    });
    expect(calls).toEqual(removal);
    const late = removedAt.map((at) => Math.round((at - begun - days * dayMs) / 60_000));
    expect(late).toEqual([0, 5]);
  });

  it('is removed at once when its owner deletes it', async () => {
    const begun = await now();
    const removedAt: number[] = [];
    const { calls } = await tell(
      meeting,
      [await ref(365)],
      {
        removeMeeting: async () => void removedAt.push(await now()),
        forgetMeeting: nothing,
        removeMeetingTasks: nothing,
      },
      async (handle) => handle.signal(removeNow),
    );
    expect(calls).toEqual(removal);
    expect(removedAt[0]! - begun).toBeLessThan(dayMs);
  });

  it('is removed at once when its day passed while nothing ran', async () => {
    const { calls } = await tell(meeting, [await ref(-3)], {
      removeMeeting: nothing,
      forgetMeeting: nothing,
      removeMeetingTasks: nothing,
    });
    expect(calls).toEqual(removal);
  });
});
