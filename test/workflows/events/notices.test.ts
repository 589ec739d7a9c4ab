/** Tests the workflow that notifies members: it mails what is not read in time. */
import { describe, expect, it } from '@jest/globals';
import { stories } from '../story.ts';
import { noticed, notices } from '../../../workflows/events/notices.ts';

const ref = { orgId: 'org_1', convId: 'conv_1' };
const { tell } = stories();
const minute = 60_000;

describe('notices', () => {
  it('the workflow that notifies members runs again when the next mail is due, and ends when no mail is left', async () => {
    const outcomes = [5 * minute, undefined];
    const { calls, skippedMs } = await tell(notices, [ref], { tellMembers: async () => outcomes.shift() });
    expect(calls).toEqual(['tellMembers', 'tellMembers']);
    expect(skippedMs).toBeGreaterThanOrEqual(5 * minute);
  });

  it('the workflow that notifies members runs its activity again for events that arrive while the activity runs', async () => {
    let tells = 0;
    const started = Promise.withResolvers<{ signal(definition: typeof noticed): Promise<void> }>();
    const tellMembers = async () => {
      tells += 1;
      if (tells === 1) await (await started.promise).signal(noticed);
      return undefined;
    };
    const { calls } = await tell(notices, [ref], { tellMembers }, async (handle) => started.resolve(handle));
    expect(calls).toEqual(['tellMembers', 'tellMembers']);
  });
});
