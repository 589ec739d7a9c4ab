import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { DefaultLogger } from '@temporalio/worker';
import { MockActivityEnvironment } from '@temporalio/testing';
import { keepBeating } from '../../workers/heartbeat.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

type About = { heartbeatTimeoutMs?: number; isLocal?: boolean };
/** Counts the heartbeats of an activity that works for `worksMs`. */
async function beats(info: About, worksMs: number): Promise<number> {
  const logger = new DefaultLogger('ERROR');
  const environment = new MockActivityEnvironment(info, { logger, interceptors: [keepBeating] });
  let seen = 0;
  environment.on('heartbeat', () => (seen += 1));
  await environment.run(async () => jest.advanceTimersByTimeAsync(worksMs));
  return seen;
}

it.each<[string, About, number, number]>([
  ['none during work of less than a second', { heartbeatTimeoutMs: 8_000 }, 900, 0],
  ['one a second with a timeout of 8 s', { heartbeatTimeoutMs: 8_000 }, 15_500, 15],
  ['at most one a second with a shorter timeout', { heartbeatTimeoutMs: 5_000 }, 15_500, 15],
  ['one in each eighth of a longer timeout', { heartbeatTimeoutMs: 40_000 }, 15_500, 3],
  ['one a second without a timeout', {}, 2_500, 2],
  ['none from a local activity', { isLocal: true }, 2_500, 0],
])('an activity sends heartbeats as often as its timeout needs: %s', async (_label, info, worksMs, expected) => {
  expect(await beats(info, worksMs)).toBe(expected);
});
