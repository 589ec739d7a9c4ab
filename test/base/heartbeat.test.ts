import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { DefaultLogger } from '@temporalio/worker';
import { MockActivityEnvironment } from '@temporalio/testing';
import { withHeartbeat } from '../../activities/base/heartbeat.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Counts the heartbeats of an activity with the heartbeat timeout `timeoutMs` that works for `worksMs`. */
async function beats(timeoutMs: number | undefined, worksMs: number): Promise<number> {
  const info = timeoutMs === undefined ? {} : { heartbeatTimeoutMs: timeoutMs };
  const environment = new MockActivityEnvironment(info, { logger: new DefaultLogger('ERROR') });
  let seen = 0;
  environment.on('heartbeat', () => (seen += 1));
  await environment.run(async () => withHeartbeat(async () => jest.advanceTimersByTimeAsync(worksMs)));
  return seen;
}

it.each<[string, number | undefined, number, number]>([
  ['short work sends none', 8_000, 900, 0],
  ['one a second where a death is noticed within 8 s', 8_000, 15_500, 15],
  ['not more than one a second where a death is noticed sooner', 5_000, 15_500, 15],
  ['one in each eighth of the time where a death may be noticed later', 40_000, 15_500, 3],
  ['one a second without a limit', undefined, 2_500, 2],
])('an activity sends heartbeats as often as its timeout needs: %s', async (_label, timeoutMs, worksMs, expected) => {
  expect(await beats(timeoutMs, worksMs)).toBe(expected);
});
