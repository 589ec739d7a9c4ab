/**
 * Tests the workflow of a meeting's data: kept until the retention period ends or the owner deletes it, then deleted,
 * and deleted again later.
 */
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
  // The test server ends every workflow after 3650 days; a real one does not.
  it.each([1, 365, 3600])('the meeting workflow deletes the data after %i days and not before', async (days) => {
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

  it('the meeting workflow deletes the data at once when the owner deletes the meeting', async () => {
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

  it('the meeting workflow deletes the data at once when the retention period ended while the workflow was not running', async () => {
    const { calls } = await tell(meeting, [await ref(-3)], {
      removeMeeting: nothing,
      forgetMeeting: nothing,
      removeMeetingTasks: nothing,
    });
    expect(calls).toEqual(removal);
  });
});
