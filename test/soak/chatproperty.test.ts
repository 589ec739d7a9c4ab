/** Random stories of customers, devices and processes that fall: the seeds that `npm test` leaves out. */
import { describe, it } from '@jest/globals';
import { chatStories } from '../kit/chatstory.ts';

const expectOneHistory = chatStories('chatstories');

describe('a conversation under random interleavings', () => {
  it.each([2, 3, 4, 5, 6, 7])('ends with one history for all (seed %i)', async (seed) => {
    await expectOneHistory(seed);
  });
});
