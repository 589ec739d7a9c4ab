/**
 * How long a meeting is kept: until its day, or until its owner deletes it. Then it is removed with all that was made of
 * it, and looked at once more when every request that was admitted before has ended.
 */
import { condition, defineSignal, proxyActivities, setCurrentDetails, setHandler, sleep } from '@temporalio/workflow';
import { throughOutages } from '../base/options.ts';
import type { MeetingActivities, MeetingTaskActivities } from '../../activities/interviews/meeting.ts';
import { removeMeetingSignal } from '../../models/rules/interviews/work.ts';

/** `expiresAt`: ISO 8601. */
export type MeetingRef = { owner: string; meetingId: string; expiresAt: string };

const { removeMeeting, forgetMeeting, removeMeetingTasks } = proxyActivities<MeetingActivities & MeetingTaskActivities>(
  {
    ...throughOutages,
    // Some 20,000 segments are deleted within seconds.
    startToCloseTimeout: '10 minutes',
  },
);

/** The owner deleted it. */
export const removeNow = defineSignal(removeMeetingSignal);

/** Longer than a request lives that stores speech or a summary. */
const untilQuiet = '5 minutes';

export async function meeting({ meetingId, expiresAt }: MeetingRef): Promise<void> {
  let deleted = false;
  setHandler(removeNow, () => void (deleted = true));
  setCurrentDetails(`Kept until ${expiresAt}.`);
  await condition(() => deleted, Math.max(1, new Date(expiresAt).getTime() - Date.now()));
  setCurrentDetails(deleted ? 'Deleted by its owner.' : `Its time ended on ${expiresAt}.`);
  await removeContents(meetingId);
  await forgetMeeting({ meetingId });
  await sleep(untilQuiet);
  await removeContents(meetingId);
}

/** Everything that belongs to a meeting; what other slices make of meetings is removed here, too. */
async function removeContents(meetingId: string): Promise<void> {
  await removeMeeting({ meetingId });
  await removeMeetingTasks({ meetingId });
}
