/** Random sequences of what customers, their devices and crashing processes do. test/soak/ runs more of them. */
import { describe, it } from '@jest/globals';
import { chatStories } from '../kit/chatstory.ts';

const expectOneHistory = chatStories('chatproperty');

describe('a conversation under random interleavings', () => {
  it.each([1])('after random interleavings, every client has the same conversation history (seed %i)', async (seed) => {
    await expectOneHistory(seed);
  });
});
