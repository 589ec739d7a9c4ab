import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../context.ts';
import { pingMongo } from '../../models/base/connect.ts';

const checkMs = 1_000;

type State = 'ok' | 'down';

/**
 * The state of a check that is cut off after `checkMs`. Some calls of the MongoDB and Temporal clients have no timeout,
 * and the clients notice only after minutes that a server does not answer.
 */
const state = (check: Promise<unknown>): Promise<State> =>
  Promise.race([
    check.then(
      () => 'ok' as const,
      () => 'down' as const,
    ),
    sleep(checkMs, 'down' as const, { ref: false }),
  ]);

/** Whether this process can take requests. While Temporal is down, requests are stored and their work starts later. */
export const canServe = async (): Promise<boolean> => (await state(pingMongo(checkMs))) === 'ok';

/** Checks MongoDB and Temporal at each call, for at most a second. */
export async function readiness(
  { temporal: client }: Pick<Context, 'temporal'>,
  ping = pingMongo,
): Promise<{ ready: boolean; mongo: State; temporal: State }> {
  const [mongo, temporal] = await Promise.all([
    state(ping(checkMs)),
    state(client.withDeadline(Date.now() + checkMs, () => client.workflowService.getSystemInfo({}))),
  ]);
  return { ready: mongo === 'ok' && temporal === 'ok', mongo, temporal };
}
