/**
 * The room of this platform as a bot: it is there as soon as it is asked for, and it is open while the interview is. Who
 * comes in and what is said there reaches the workflow through the API, so there is nothing to look after.
 */
import type { Bot } from '../../clients/bot/bot.ts';

export const roomBot: Bot = {
  kind: 'room',
  schedule: async ({ key }) => ({ kind: 'room', id: key }),
  cancel: async () => undefined,
  get: async () => ({ phase: 'waiting' }),
  transcript: async () => [],
};
