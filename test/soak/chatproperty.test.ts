/**
 * Random sequences of what customers, their devices and crashing processes do, with the seeds that `npm test` omits.
 */
import { describe, it } from '@jest/globals';
import { chatStories } from '../kit/chatstory.ts';

const expectOneHistory = chatStories('chatstories');

describe('a conversation under random interleavings', () => {
  it.each([2, 3, 4, 5, 6, 7])(
    'after random actions of customers and crashes of processes, the database and all devices have the same history (seed %i)',
    async (seed) => {
      await expectOneHistory(seed);
    },
  );
});
