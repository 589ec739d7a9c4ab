/**
 * Steps that a customer waits for. They run as local activities within the workflow task. So they wait in no queue, and
 * Temporal stores one event instead of six.
 */
import { isCancellation, type LocalActivityOptions } from '@temporalio/workflow';

/** The options of a local activity: without retries, because a step that failed is repeated as a normal activity. */
export const inTask = {
  startToCloseTimeout: '1 minute',
  scheduleToStartTimeout: '1 second',
  retry: { maximumAttempts: 1 },
} as const satisfies LocalActivityOptions;

/**
 * Runs `local`. When `local` fails, or returns a step that `isUnfinished`, `asActivity` runs the step as a normal
 * activity with heartbeats and retries.
 */
export async function inTaskFirst<Step>(
  local: () => Promise<Step>,
  isUnfinished: (step: Step) => boolean,
  asActivity: () => Promise<Step>,
): Promise<Step> {
  try {
    const step = await local();
    if (!isUnfinished(step)) return step;
  } catch (error) {
    if (isCancellation(error)) throw error;
  }
  return asActivity();
}
