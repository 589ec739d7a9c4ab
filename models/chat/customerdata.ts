/**
 * Everything that is held of a customer, to be given away: page by page, so that no customer is too large to be read. It
 * changes nothing; the removal of the same things is models/chat/erasure.ts.
 */
import mongoose from 'mongoose';
import { findConversation, listConversations, type Conversation } from './conversation.ts';
import type { Customer } from './customer.ts';
import { listGapsOf, type CustomerGap } from '../knowledge/gap.ts';
import { messagesAfter, type Message } from './message.ts';
import { listSessionsOf, type Session } from '../access/session.ts';

/** What there is, by the list in which it is given. */
export type HeldRecords = { sessions: Session; gaps: CustomerGap; conversations: Conversation; messages: Message };
export type Held = { [L in keyof HeldRecords]: { list: L; record: HeldRecords[L] } }[keyof HeldRecords];

/** Bytes of records (as MongoDB stores them) after which a page is full; its last record may exceed them. */
const pageBytes = 512 * 1024;

/** Where a record stands, for the page that goes on behind it. */
export const placeOf = ({ list, record }: Held): string =>
  list === 'messages' ? `messages ${record.conv_id} ${record.position}` : `${list} ${record._id}`;
/** All that `placeOf` can have written. */
export const placeForm =
  /^(sessions ssn_[0-9A-Z]{26}|gaps gap_[0-9a-f]{26}|conversations conv_[0-9A-Z]{26}|messages conv_[0-9A-Z]{26} \d{1,15})$/;

/**
 * The records behind `place` in an order that stays: sessions, the newest first, unanswered questions, then conversations,
 * the newest first, each with its messages behind it. `fits` of them are a page, at most `limit`; there is one more when it
 * is not the last.
 */
export async function heldBehind(
  customer: Readonly<Customer>,
  place: string | undefined,
  limit: number,
): Promise<{ found: Held[]; fits: number }> {
  const found: Held[] = [];
  let bytes = 0;
  for await (const held of recordsBehind(customer, place, limit + 1)) {
    found.push(held);
    if (found.length > limit || bytes >= pageBytes) return { found, fits: found.length - 1 };
    bytes += mongoose.mongo.BSON.calculateObjectSize(held.record);
  }
  return { found, fits: found.length };
}

/** Reads at most `most` records of one kind at a time. */
async function* recordsBehind(
  { _id: customerId, org_id: orgId, mode }: Readonly<Customer>,
  place: string | undefined,
  most: number,
): AsyncGenerator<Held> {
  const [list, id = '', position = '0'] = place?.split(' ') ?? [];
  const limit = most;
  async function* messages(convId: string, behind: number): AsyncGenerator<Held> {
    for (const record of await messagesAfter(orgId, convId, behind, most)) yield { list: 'messages', record };
  }

  if (list === undefined || list === 'sessions') {
    const after = list && id;
    for (const record of await listSessionsOf(orgId, customerId, { limit, after })) yield { list: 'sessions', record };
  }
  if (list === undefined || list === 'sessions' || list === 'gaps') {
    const after = list === 'gaps' ? id : undefined;
    for (const record of await listGapsOf(orgId, customerId, { limit, after })) yield { list: 'gaps', record };
  }
  const begun = list === 'conversations' || list === 'messages' ? id : undefined;
  // The caller sends the place, so it may name another customer's conversation.
  if (begun !== undefined && (await findConversation(orgId, begun))?.customer_id === customerId)
    yield* messages(begun, Number(position));
  for (const record of await listConversations(orgId, mode, customerId, { limit, after: begun, all: true })) {
    yield { list: 'conversations', record };
    yield* messages(record._id, 0);
  }
}
