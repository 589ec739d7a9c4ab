/** The log of the frames that the clients of a conversation receive. */
import { ConversationModel, type Conversation } from './conversation.ts';
import { collectionOf } from '../base/define.ts';
import { FrameModel, frameWriter, type FrameWriter, type Stream, type WriterOptions } from '../live/frame.ts';
import { keptUntil, logDays } from '../rules/chat/retention.ts';

export const streamOf = ({ _id, org_id }: Pick<Conversation, '_id' | 'org_id'>) => ({ orgId: org_id, stream: _id });

/** The ids of the given streams whose conversations were removed. */
export async function removedAmong(streams: readonly Stream[]): Promise<string[]> {
  const ids = [...new Set(streams.map(({ stream }) => stream))];
  const orgIds = [...new Set(streams.map(({ orgId }) => orgId))];
  const standing = await collectionOf(ConversationModel)
    .find({ _id: { $in: ids }, org_id: { $in: orgIds } }, { projection: { _id: 1 } })
    .toArray();
  const stands = new Set(standing.map(({ _id }) => _id));
  return ids.filter((id) => !stands.has(id));
}

/** A writer for a conversation's frame log. In test mode, the frames expire a day after the conversation. */
export function conversationWriter(
  { _id, org_id, mode }: Pick<Conversation, '_id' | 'org_id' | 'mode'>,
  clock: () => Date,
  options?: WriterOptions,
): FrameWriter {
  const log = { ...streamOf({ _id, org_id }), keptUntil: (at: Date) => keptUntil(mode, at, logDays) };
  return frameWriter(log, clock, options);
}

/** The number (`seq`) of an answer's last `reply_start` frame; undefined when there is none. */
export async function replyStart(
  { _id, org_id }: Pick<Conversation, '_id' | 'org_id'>,
  replyId: string,
): Promise<number | undefined> {
  const start = await collectionOf(FrameModel).findOne(
    { org_id, stream: _id, type: 'reply_start', 'body.message_id': replyId },
    { sort: { seq: -1 }, projection: { seq: 1 } },
  );
  return start?.seq;
}
