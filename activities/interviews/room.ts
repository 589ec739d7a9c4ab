/**
 * The platform's own interview room, with the interface of a bot. It is ready at once and open as long as the interview
 * runs. The API reports to the workflow who joins and what is said, so nothing has to be polled.
 */
import type { Bot } from '../../providers/recall/bot.ts';
import type { SecretBox } from '../../models/base/secretbox.ts';
import { orderOf, type Interview } from '../../models/interviews/interview.ts';
import { openRoom } from '../../models/interviews/room.ts';

export type RoomDeps = { secrets: SecretBox; clock: () => Date };

/** The bot of an interview's room; the room has the interview's id. */
export function createRoomBot(interview: Interview, { secrets, clock }: RoomDeps): Bot {
  return {
    ...idleRoom,
    schedule: async ({ key }) => {
      await openRoom(orderOf(interview), secrets, clock());
      return { kind: 'room', id: key };
    },
  };
}

/**
 * The operations of a room's bot besides `schedule`. They do nothing, because the API reports what happens in the room,
 * and the room closes with the interview.
 */
export const idleRoom: Omit<Bot, 'schedule'> = {
  kind: 'room',
  cancel: async () => undefined,
  get: async () => ({ phase: 'waiting' }),
  sent: async () => [],
  erase: async () => true,
  transcript: async () => [],
};
