/**
 * A test environment for an interview's workflow: its record in memory, bots with scripted behaviour, and helpers that
 * request status changes.
 */
import type { WorkflowHandle } from '@temporalio/client';
import type { Deployed, InterviewActivities } from '../../../activities/interviews/interview.ts';
import type { InvitationActivities } from '../../../activities/interviews/invitation.ts';
import type { BotState } from '../../../models/rules/interviews/bot.ts';
import type { RoomMove } from '../../../models/rules/interviews/room.ts';
import { newState, type InterviewState, type Move } from '../../../models/rules/interviews/interview.ts';
import { interviewUpdates, type InterviewCommand } from '../../../workflows/interviews/interview.ts';
import { defined } from '../../../models/rules/base/defined.ts';

/**
 * Creates the record and scripted bots. The outcomes in `deploy` and `looks` are used one by one; the last one is
 * repeated.
 */
export function world({
  dueAt,
  deploy = [{ bot: { kind: 'room', id: 'room_1' } }],
  looks = [{ phase: 'recording' }],
  score = async () => 'scored' as const,
  transcripts = [true],
  room = [],
  invites = false,
}: {
  dueAt?: string;
  deploy?: Deployed[];
  looks?: BotState[];
  score?: () => Promise<'scored' | 'silent'>;
  transcripts?: boolean[];
  /** The status changes that people in the room have requested. */
  room?: RoomMove[];
  /** Whether the candidate has an e-mail address. */
  invites?: boolean;
} = {}) {
  const record: { state: InterviewState; due: string | undefined; history: Move[]; gone: boolean } = {
    state: newState([], undefined),
    due: dueAt,
    history: [],
    gone: false,
  };
  const dismissed: string[] = [];
  const collected: string[] = [];
  /** The statuses about which the candidate was notified. */
  const invited: string[] = [];
  const shift = <T>(list: T[]): T => (list.length > 1 ? list.shift()! : list[0]!);
  /** Stores each status change once, identified by its number. */
  const store = ({ state, moves }: { state: InterviewState; moves: readonly Move[] }): void => {
    record.history.push(...moves.filter(({ seq }) => seq > record.state.seq));
    record.state = state;
  };
  const activities: InterviewActivities & InvitationActivities = {
    loadInterview: async () =>
      record.gone
        ? null
        : {
            state: record.state,
            ...(record.due ? { scheduled: true as const, dueAt: record.due } : {}),
            ...(invites ? { invites: true as const } : {}),
          },
    storeInterview: async (said) => {
      if (said.state.seq >= record.state.seq) store(said);
      return !record.gone;
    },
    deployBot: async ({ said }) => {
      if (said.state.seq > record.state.seq) store(said);
      return shift(deploy);
    },
    dismissBot: async ({ bot }) => void dismissed.push(bot.id),
    lookAtBot: async () => shift(looks),
    readRoom: async () => room,
    collectTranscript: async ({ bot }) => {
      collected.push(bot.id);
      return shift(transcripts);
    },
    summarizeInterview: async () => undefined,
    scoreInterview: score,
    removeInterview: async () => void (record.gone = true),
    eraseRecordings: async () => true,
    forgetInterview: async () => undefined,
    inviteCandidate: async () => void invited.push(record.state.status),
  };
  return { record, dismissed, collected, invited, activities };
}
export const ask = (handle: WorkflowHandle, command: InterviewCommand, cause?: string) =>
  handle.executeUpdate(interviewUpdates[command], {
    args: [{ actor: 'usr_1', ...defined({ cause }) }],
  });
export const moves = (history: readonly Move[]) =>
  history.map(({ from, to, operation, actor, cause }) => [from, to, operation, actor, ...(cause ? [cause] : [])]);
export const outside = (id: string): Deployed => ({ bot: { kind: 'recall', id } });
