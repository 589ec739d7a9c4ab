/**
 * Searches what members may read: messages, notes, and customers' names and addresses. MongoDB finds the words by text
 * indexes on the records themselves. So a stored text is found at once, and an erased text is not found any more.
 */
import type mongoose from 'mongoose';
import { ConversationModel, type Note } from './conversation.ts';
import { CustomerModel, type Customer } from './customer.ts';
import { MessageModel } from './message.ts';
import { collectionOf } from '../base/define.ts';
import { isIdOf } from '../base/ids.ts';
import { invalid } from '../rules/base/errors.ts';
import type { Mode } from '../rules/access/keys.ts';
import { hasAllWords, isOneTerm, type SearchPlace } from '../rules/chat/search.ts';

/** The time limit of a query, in ms. */
const maxMs = 3_000;
/** The number of records that are read at once when words are compared here. */
const batch = 200;
const tooCommon = () => invalid(['query', 'q'], 'is found too often; add a word, or name a time by `from` and `until`');
/** The maximum number of the customers' conversations that a search reads, the newest first. */
const maxConversations = 500;
/**
 * The maximum number of customers whose conversations are looked up. When more customers match, the ones who were seen
 * last are taken.
 */
const maxCustomers = 200;

export type Found = {
  conv_id: string;
  place: SearchPlace;
  /** The id of the message or note; for a customer, `<customer>:<conversation>`. */
  id: string;
  at: Date;
  text: string;
};
export type Search = { orgId: string; modes: readonly Mode[]; words: readonly string[]; from: Date; until: Date };

/**
 * A text search that requires every word, in any case and with any accents. The index finds records that have any term
 * of the words as a whole; MongoDB then looks for each word as a part of the text. `hasAllWords` checks the rest.
 */
const phrases = (words: readonly string[]) => ({ $text: { $search: words.map((word) => `"${word}"`).join(' ') } });

/**
 * The first `limit` records that have all words in their text. The records come in small batches, so that the process
 * does other work between them. @throws Problem VALIDATION when that takes longer than `maxMs`
 */
async function firstWithAll<R>(
  records: AsyncIterable<R>,
  textOf: (one: R) => string,
  words: readonly string[],
  limit: number,
): Promise<R[]> {
  const found: R[] = [];
  const end = performance.now() + maxMs;
  for await (const one of records) {
    if (hasAllWords(textOf(one), words)) found.push(one);
    if (found.length === limit) break;
    if (performance.now() > end) throw tooCommon();
  }
  return found;
}

/**
 * As `firstWithAll`, for a query by `phrases` that reads one text of each record. Where the index alone decides, the
 * query has a limit: MongoDB then sorts without keeping every record that has a common word.
 */
const firstByIndex = <R>(
  query: mongoose.mongo.FindCursor<R>,
  textOf: (one: R) => string,
  words: readonly string[],
  limit: number,
): Promise<R[]> =>
  isOneTerm(words) ? query.limit(limit).toArray() : firstWithAll(query.batchSize(batch), textOf, words, limit);

/**
 * The hits, in no particular order: the newest `limit` messages, the newest `limit` notes, and the conversations of
 * customers.
 * @throws Problem VALIDATION when the words are too common
 */
export async function searchInbox(search: Search, limit: number): Promise<Found[]> {
  const found = await Promise.all([inMessages(search, limit), inNotes(search, limit), ofCustomers(search)]).catch(
    (error: unknown) => {
      if ((error as { codeName?: string }).codeName !== 'MaxTimeMSExpired') throw error;
      throw tooCommon();
    },
  );
  return found.flat();
}

async function inMessages({ orgId, modes, words, from, until }: Search, limit: number): Promise<Found[]> {
  const query = collectionOf(MessageModel)
    .find({ org_id: orgId, mode: { $in: [...modes] }, at: { $gte: from, $lte: until }, ...phrases(words) })
    .project<{ _id: string; conv_id: string; at: Date; body: string }>({ conv_id: 1, at: 1, body: 1 })
    .sort({ at: -1, _id: -1 })
    .maxTimeMS(maxMs);
  const messages = await firstByIndex(query, ({ body }) => body, words, limit);
  return messages.map(({ _id: id, conv_id, at, body: text }) => ({ conv_id, place: 'message', id, at, text }));
}

/**
 * The notes that contain all words, the newest first. The index also finds conversations that have the words in several
 * notes, so each note is checked.
 */
async function inNotes({ orgId, modes, words, from, until }: Search, limit: number): Promise<Found[]> {
  const period = { $gte: from, $lte: until };
  const notes = collectionOf(ConversationModel).aggregate<{ _id: string; notes: Note }>(
    [
      { $match: { org_id: orgId, mode: { $in: [...modes] }, ...phrases(words) } },
      { $project: { notes: 1 } },
      { $unwind: '$notes' },
      { $match: { 'notes.at': period } },
      { $sort: { 'notes.at': -1, 'notes.note_id': -1 } },
    ],
    { maxTimeMS: maxMs, batchSize: batch },
  );
  const found = await firstWithAll(notes, ({ notes: { body } }) => body, words, limit);
  return found.map(({ _id: conv_id, notes: { note_id: id, body: text, at } }) => ({
    conv_id,
    place: 'note',
    id,
    at,
    text,
  }));
}

const textOfCustomer = ({ name, email, contact_email }: Customer): string =>
  [...new Set([name, email, contact_email])].filter(Boolean).join(', ');

/** The conversations of customers with this name, address or id. */
async function ofCustomers({ orgId, modes, words, from, until }: Search): Promise<Found[]> {
  const mode = { $in: [...modes] };
  const byId = isIdOf('customer', words[0]!);
  const which: mongoose.mongo.Filter<{ _id: string }> = byId ? { _id: words[0]! } : phrases(words);
  const query = collectionOf(CustomerModel)
    .find({ org_id: orgId, mode, erasing_at: { $exists: false }, ...(which as object) })
    .sort({ last_seen_at: -1 })
    .maxTimeMS(maxMs);
  const customers = byId ? await query.toArray() : await firstByIndex(query, textOfCustomer, words, maxCustomers);
  if (customers.length === 0) return [];
  const conversations = await collectionOf(ConversationModel)
    .find({
      org_id: orgId,
      mode,
      customer_id: { $in: customers.map(({ _id }) => _id) },
      last_message_at: { $gte: from, $lte: until },
    })
    .project<{ _id: string; customer_id: string; last_message_at: Date }>({ customer_id: 1, last_message_at: 1 })
    .sort({ last_message_at: -1 })
    .limit(maxConversations)
    .maxTimeMS(maxMs)
    .toArray();
  const texts = new Map(customers.map((customer) => [customer._id, textOfCustomer(customer)]));
  return conversations.map(({ _id: conv_id, customer_id: id, last_message_at: at }) => ({
    conv_id,
    place: 'customer',
    id: `${id}:${conv_id}`,
    at,
    text: texts.get(id)!,
  }));
}
