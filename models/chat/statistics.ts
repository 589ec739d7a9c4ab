/** Reads the conversations from which an organization's statistics are computed. */
import { collectionOf } from '../base/define.ts';
import { ConversationModel } from './conversation.ts';
import type { Mode } from '../rules/access/keys.ts';
import type { Counted } from '../rules/chat/statistics.ts';

const fields = [
  'created_at',
  'last_message_at',
  'ticket.created_at',
  'first_reply_at',
  'resolved_at',
  'reopened',
  'answered',
  'csat',
  'assigned_to',
  'tags',
];

/** At most `limit` conversations that have a message and began between `from` (inclusive) and `until` (exclusive). */
export async function listCounted(
  orgId: string,
  modes: readonly Mode[],
  { from, until, limit }: { from: Date; until: Date; limit: number },
): Promise<Counted[]> {
  return collectionOf(ConversationModel)
    .find<Counted>(
      {
        org_id: orgId,
        created_at: { $gte: from, $lt: until },
        mode: { $in: [...modes] },
        last_message_at: { $exists: true },
      },
      { projection: Object.fromEntries(fields.map((field) => [field, 1])) },
    )
    .limit(limit)
    .toArray();
}
