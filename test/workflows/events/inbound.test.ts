/** Tests the workflow that processes an organization's events from other services, when one worker does not keep up. */
import { expect, it } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { until } from '../../kit/harness.ts';
import { stories } from '../story.ts';
import { arrived, inbound } from '../../../workflows/events/inbound.ts';

const { tell } = stories();

it('a backlog of inbound events is processed in concurrent parts, and a new event does not wait for the slowest part', async () => {
  const begun = Promise.withResolvers<WorkflowHandle>();
  const looks: (number | undefined)[] = [];
  const looksAt = (part: number | undefined): number => looks.filter((each) => each === part).length;
  const processInbound = async ({ part }: { part?: number }) => {
    looks.push(part);
    if (part === undefined) return { isBehind: looks.length === 1 };
    if (part === 3 && looksAt(3) === 1) {
      await until(async () => [0, 1, 2].every((other) => looksAt(other) === 1), 'the other parts');
      await (await begun.promise).signal(arrived);
      await until(async () => [0, 1, 2].every((other) => looksAt(other) === 2), 'another look at the other parts');
    }
    return {};
  };
  await tell(inbound, [{ orgId: 'org_1' }], { processInbound }, async (handle) => begun.resolve(handle));
  // The workflow looks at all lanes again before it ends.
  expect([looks[0], looks.at(-1), looksAt(undefined)]).toEqual([undefined, undefined, 2]);
});
