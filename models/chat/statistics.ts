/** Reads the conversations from which an organization's statistics are computed. */
import { collectionOf } from '../base/define.ts';
import { ConversationModel, type Conversation } from './conversation.ts';
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
  const found = await collectionOf(ConversationModel)
    .find(
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
  return found.map(countedOf);
}

const countedOf = (conversation: Conversation): Counted => ({
  created: conversation.created_at.getTime(),
  active: conversation.last_message_at!.getTime(),
  called: conversation.ticket?.created_at.getTime(),
  replied: conversation.first_reply_at?.getTime(),
  resolved: conversation.resolved_at?.getTime(),
  reopened: conversation.reopened ?? 0,
  answered: conversation.answered === true,
  csat: conversation.csat,
  assignee: conversation.assigned_to,
  tags: conversation.tags ?? [],
});
