/** The reading of long transcripts in a thread. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { condense, findTasks, summarizeMeeting } from '../../../intelligence/offline/meetings/jobs.ts';
import { doOnTranscript } from '../../../intelligence/offline/meetings/thread.ts';

const said = Array.from({ length: 30 }, (_, n) => ({
  id: String(n),
  speaker: n % 2 === 0 ? 'Ann' : 'Ben',
  text:
    n === 5
      ? 'I will send the contract to the lawyer by Friday.'
      : `The shelf ${n} ${'is rather dusty and '.repeat(450)}full.`,
  at: new Date(n),
  is_ai: false,
}));
const recorded = { said, members: [], startedAt: new Date('2026-11-23T09:00:00Z'), zone: 'UTC' };

function attempt(act: () => unknown): Error | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

describe('a long transcript', () => {
  it('a long transcript is read in a thread with the same result, while the process serves others', async () => {
    const reading = { ended: false };
    const read = Promise.all([
      doOnTranscript('findTasks', recorded),
      doOnTranscript('summarizeMeeting', { ...recorded, mode: 'short' }),
      doOnTranscript('condense', { said, characters: 20_000 }),
    ]).finally(() => (reading.ended = true));
    let turns = 0;
    for (; !reading.ended; turns += 1) await nextTurn();
    expect(turns).toBeGreaterThan(10);
    const [tasks, summary, condensed] = await read;
    expect(tasks).toEqual(findTasks(recorded));
    expect(tasks.tasks).toMatchObject([{ title: 'Send the contract to the lawyer', owner: 'Ben' }]);
    expect(summary).toEqual(summarizeMeeting({ ...recorded, mode: 'short' }));
    expect(condensed).toEqual(condense({ said, characters: 20_000 }));
  });

  it('a job on a long transcript that fails in its thread rejects with the error of the job', async () => {
    const broken = { ...recorded, zone: 'Nowhere/Nowhere', startedAt: 'no date' as unknown as Date };
    const error = attempt(() => findTasks(broken));
    expect(error).toBeInstanceOf(Error);
    await expect(doOnTranscript('findTasks', broken)).rejects.toThrow(error!.message);
  });
});
