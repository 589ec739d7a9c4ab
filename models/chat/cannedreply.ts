/**
 * Canned replies: texts that members insert into their replies by a shortcut. A canned reply belongs to one member, or
 * is shared by all.
 */
import { isDuplicate } from '../base/connect.ts';
import { changerOf, collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { newId } from '../base/ids.ts';
import { date, nullable, string } from '../rules/base/fields.ts';
import { maxCannedReplies } from '../rules/chat/cannedreply.ts';
import { Problem } from '../rules/base/errors.ts';

const CannedReplyModel = defineModel(
  'CannedReply',
  'canned_replies',
  {
    _id: string,
    org_id: string,
    /** The user id of the member who owns the reply; null: all members share it. */
    owner: nullable(string),
    shortcut: string,
    body: string,
    created_at: date,
    updated_at: date,
  },
  [{ fields: { org_id: 1, owner: 1, shortcut: 1 }, unique: true }],
);
export type CannedReply = RecordOf<typeof CannedReplyModel>;

const changeReply = changerOf(CannedReplyModel);

/** The replies that a member may use, their own and the shared ones, sorted by shortcut. */
export async function listCannedReplies(orgId: string, userId: string): Promise<CannedReply[]> {
  return collectionOf(CannedReplyModel)
    .find({ org_id: orgId, owner: { $in: [null, userId] } })
    .sort({ shortcut: 1, owner: -1 })
    .toArray();
}

/** Finds a reply that the member may use; null when there is none with this id, or it belongs to another member. */
export async function findCannedReply(orgId: string, userId: string, replyId: string): Promise<CannedReply | null> {
  return collectionOf(CannedReplyModel).findOne({ _id: replyId, org_id: orgId, owner: { $in: [null, userId] } });
}

const taken = (shortcut: string): Problem =>
  new Problem('CONFLICT', { message: `There is a reply with the shortcut ${shortcut}; choose another one.` });

/** @throws Problem CONFLICT when the owner, or all members together, have `maxCannedReplies` replies already. */
async function checkRoom(org_id: string, owner: string | null): Promise<void> {
  if ((await collectionOf(CannedReplyModel).countDocuments({ org_id, owner })) >= maxCannedReplies)
    throw new Problem('CONFLICT', { message: `There may be ${maxCannedReplies} such replies; remove one.` });
}

/** @throws Problem CONFLICT when the shortcut is taken, or the owner has `maxCannedReplies` replies already. */
export async function createCannedReply(
  given: Pick<CannedReply, 'org_id' | 'owner' | 'shortcut' | 'body'>,
  now: Date,
): Promise<CannedReply> {
  const { org_id, owner, shortcut } = given;
  await checkRoom(org_id, owner);
  const reply = { _id: newId('cannedReply'), ...given, created_at: now, updated_at: now };
  try {
    await collectionOf(CannedReplyModel).insertOne(reply);
  } catch (error) {
    throw isDuplicate(error) ? taken(shortcut) : error;
  }
  return reply;
}

/**
 * Changes a reply; null when it was removed meanwhile.
 * @throws Problem CONFLICT when the shortcut is taken, or a new owner has `maxCannedReplies` replies already
 */
export async function changeCannedReply(
  { _id, org_id, owner, shortcut }: CannedReply,
  change: Partial<Pick<CannedReply, 'owner' | 'shortcut' | 'body'>>,
  now: Date,
): Promise<CannedReply | null> {
  if (change.owner !== undefined && change.owner !== owner) await checkRoom(org_id, change.owner);
  try {
    return await changeReply(org_id, _id, { $set: { ...change, updated_at: now } });
  } catch (error) {
    throw isDuplicate(error) ? taken(change.shortcut ?? shortcut) : error;
  }
}

export async function removeCannedReply({ _id, org_id }: CannedReply): Promise<void> {
  await collectionOf(CannedReplyModel).deleteOne({ _id, org_id });
}
