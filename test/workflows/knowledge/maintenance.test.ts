/** Tests an hourly run of maintenance, with stub activities and skipped time. */
import { describe, expect, it, jest } from '@jest/globals';
import { Runtime } from '@temporalio/worker';
import { stories } from '../story.ts';
import { maintainStores } from '../../../workflows/knowledge/maintenance.ts';

const { tell } = stories();

describe('maintainStores', () => {
  it('the maintenance workflow continues after a failed step, and logs the reason and the time of the retry', async () => {
    const said: unknown[] = [];
    const note = (...line: unknown[]) => void said.push(line);
    const { logger } = Runtime.instance();
    const spies = (['warn', 'log'] as const).map((name) => jest.spyOn(logger, name).mockImplementation(note as never));
    try {
      const { calls } = await tell(maintainStores, [], {
        repairIndexes: async () => {
          throw new Error('The table of org_1 is away.');
        },
        optimizeIndexes: async () => 0,
        dropOrphanedBytes: async () => 0,
      });
      expect(calls).toEqual([
        ...Array.from({ length: 3 }, () => 'repairIndexes'),
        ...Array.from({ length: 60 }, () => 'optimizeIndexes'),
        'dropOrphanedBytes',
      ]);
    } finally {
      for (const spy of spies) spy.mockRestore();
    }
    const lines = said.map((line) => JSON.stringify(line)).filter((line) => line.includes('is tried again'));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('is tried again in an hour');
    expect(lines[0]).toContain('The table of org_1 is away.');
  });
});
