/** Plays random sequences of customers, devices and crashing processes; test/soak/ runs more of them. */
import { describe, it } from '@jest/globals';
import { chatStories } from '../kit/chatstory.ts';

const expectOneHistory = chatStories('chatproperty');

describe('a conversation under random interleavings', () => {
  it.each([1])('every client ends with the same history (seed %i)', async (seed) => {
    await expectOneHistory(seed);
  });
});
