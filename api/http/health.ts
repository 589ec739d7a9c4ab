/** Whether this process lives, and whether it can serve: what an orchestrator asks. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../context.ts';
import { pingMongo } from '../../models/base/connect.ts';

const checkMs = 1_000;

type State = 'ok' | 'down';

/** Each dependency is asked anew, for at most a second. */
export async function readiness(
  { temporal: client }: Pick<Context, 'temporal'>,
  ping = pingMongo,
): Promise<{ ready: boolean; mongo: State; temporal: State }> {
  const state = (check: Promise<unknown>): Promise<State> =>
    // Neither driver bounds all that it waits for: a connection that has gone silent is not noticed for minutes.
    Promise.race([
      check.then(
        () => 'ok' as const,
        () => 'down' as const,
      ),
      sleep(checkMs, 'down' as const, { ref: false }),
    ]);
  const [mongo, temporal] = await Promise.all([
    state(ping(checkMs)),
    state(client.withDeadline(Date.now() + checkMs, () => client.workflowService.getSystemInfo({}))),
  ]);
  return { ready: mongo === 'ok' && temporal === 'ok', mongo, temporal };
}
