/** A conversation's part of the frame log: who writes in it, how long it is kept, and where the pieces of an answer begin. */
import type { Conversation } from './conversation.ts';
import { collectionOf } from '../base/define.ts';
import { FrameModel, frameWriter, type FrameWriter, type WriterOptions } from '../live/frame.ts';
import { keptUntil, logDays } from '../rules/chat/retention.ts';

/** A writer of a conversation's log, whose frames are kept as long as the conversation. */
export function conversationWriter(
  { _id, org_id, mode }: Pick<Conversation, '_id' | 'org_id' | 'mode'>,
  clock: () => Date,
  options?: WriterOptions,
): FrameWriter {
  const log = { orgId: org_id, stream: _id, keptUntil: (at: Date) => keptUntil(mode, at, logDays) };
  return frameWriter(log, clock, options);
}

/** The number of the last `reply_start` of an answer. */
export async function replyStart(convId: string, replyId: string): Promise<number | undefined> {
  const start = await collectionOf(FrameModel).findOne(
    { stream: convId, type: 'reply_start', 'body.message_id': replyId },
    { sort: { seq: -1 }, projection: { seq: 1 } },
  );
  return start?.seq;
}
