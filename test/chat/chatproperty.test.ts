/** A random story of customers, devices and processes that fall, played through; more of them are in test/soak/. */
import { describe, it } from '@jest/globals';
import { chatStories } from '../kit/chatstory.ts';

const expectOneHistory = chatStories('chatproperty');

describe('a conversation under random interleavings', () => {
  it.each([1])('ends with one history for all (seed %i)', async (seed) => {
    await expectOneHistory(seed);
  });
});
