/**
 * Exports all data of a customer, in pages of bounded size. This file only reads; models/chat/erasure.ts erases the
 * same data.
 */
import mongoose from 'mongoose';
import { findConversation, listConversations, type Conversation } from './conversation.ts';
import type { Customer } from './customer.ts';
import { listGapsOf, type CustomerGap } from '../knowledge/gap.ts';
import { messagesAfter, type Message } from './message.ts';
import { listSessionsOf, type Session } from '../access/session.ts';

/** The exported records, by list. */
export type HeldRecords = { sessions: Session; gaps: CustomerGap; conversations: Conversation; messages: Message };
export type Held = { [L in keyof HeldRecords]: { list: L; record: HeldRecords[L] } }[keyof HeldRecords];

/**
 * A page is full when its records have this many bytes (as stored in MongoDB); the last record may exceed this size.
 */
const pageBytes = 512 * 1024;

/** The cursor of a record, from which the next page continues. */
export const placeOf = ({ list, record }: Held): string =>
  list === 'messages' ? `messages ${record.conv_id} ${record.position}` : `${list} ${record._id}`;
/** The form of all cursors that `placeOf` creates. */
export const placeForm =
  /^(sessions ssn_[0-9A-Z]{26}|gaps gap_[0-9a-f]{26}|conversations conv_[0-9A-Z]{26}|messages conv_[0-9A-Z]{26} \d{1,15})$/;

/**
 * The records after the cursor `place`, in a stable order: sessions (newest first), unanswered questions, then
 * conversations (newest first), each followed by its messages. The first `fits` records form the page, at most `limit`;
 * one more record is returned when further pages follow.
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

/** Yields the records after the cursor. Each query reads at most `most` records. */
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
  // The cursor comes from the caller and may name another customer's conversation, so the conversation's customer is
  // checked.
  if (begun !== undefined && (await findConversation(orgId, begun))?.customer_id === customerId)
    yield* messages(begun, Number(position));
  for (const record of await listConversations(orgId, mode, customerId, { limit, after: begun, all: true })) {
    yield { list: 'conversations', record };
    yield* messages(record._id, 0);
  }
}
