/** Random sequences of what customers, their devices and crashing processes do. test/soak/ runs more of them. */
import { describe, it } from '@jest/globals';
import { chatStories } from '../kit/chatstory.ts';

const expectOneHistory = chatStories('chatproperty');

describe('a conversation under random crashes and reconnects', () => {
  it.each([1])(
    'after a random sequence of messages, reconnects and crashes, every client has the server’s conversation history (seed %i)',
    async (seed) => {
      await expectOneHistory(seed);
    },
  );
});
