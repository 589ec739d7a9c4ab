/**
 * The room of this platform as a bot: it is there as soon as it is asked for, and it is open while the interview is. Who
 * comes in and what is said there reaches the workflow through the API, so there is nothing to look after.
 */
import type { Bot } from '../../providers/recall/bot.ts';
import type { SecretBox } from '../../models/base/secretbox.ts';
import { orderOf, type Interview } from '../../models/interviews/interview.ts';
import { openRoom } from '../../models/interviews/room.ts';

export type RoomDeps = { secrets: SecretBox; clock: () => Date };

/** For an interview whose room it is; the room has the interview's id. */
export function createRoomBot(interview: Interview, { secrets, clock }: RoomDeps): Bot {
  return {
    ...idleRoom,
    schedule: async ({ key }) => {
      await openRoom(orderOf(interview), secrets, clock());
      return { kind: 'room', id: key };
    },
  };
}

/** A room whose interview is not at hand: it has nothing to say, and closes with the interview. */
export const idleRoom: Omit<Bot, 'schedule'> = {
  kind: 'room',
  cancel: async () => undefined,
  get: async () => ({ phase: 'waiting' }),
  sent: async () => [],
  erase: async () => true,
  transcript: async () => [],
};
