/** What members are told by the system: one notification for each member and occasion. */
import { isDuplicate } from '../base/connect.ts';
import { aboutField, aboutIndex } from '../base/copies.ts';
import { collectionOf, defined, defineModel, type RecordOf } from '../base/define.ts';
import { boolean, date, optional, string } from '../rules/base/fields.ts';
import { newId } from '../base/ids.ts';
import { OrganizationModel } from './organization.ts';

/** Notifications are removed after half a year, read or not. */
const keptDays = 180;

export const NotificationModel = defineModel(
  'Notification',
  'notifications',
  {
    _id: string,
    user_id: string,
    org_id: string,
    /** The occasion: the same one notifies a member once. */
    key: string,
    /** What it is about, such as `integration_broken`. */
    kind: string,
    title: string,
    body: string,
    /** Of a notification about a task. */
    task_id: optional(string),
    /** Of one about a conversation. */
    conv_id: optional(string),
    /** A call of a tool that waits for a member. */
    approval_id: optional(string),
    delivery_id: optional(string),
    /** What is read together: `conversation:<id>`. */
    topic: optional(string),
    /** What repeats itself: of these, a member has one unread at a time. */
    gathered: optional(string),
    /** What it tells about, and goes with. */
    about: aboutField,
    read: boolean,
    created_at: date,
    expires_at: date,
  },
  [
    { fields: { user_id: 1, org_id: 1, key: 1 }, unique: true },
    { fields: { user_id: 1, _id: -1 } },
    { fields: { user_id: 1, org_id: 1, topic: 1 }, partialFilterExpression: { read: false } },
    {
      fields: { user_id: 1, org_id: 1, gathered: 1 },
      unique: true,
      partialFilterExpression: { read: false, gathered: { $exists: true } },
    },
    aboutIndex,
    { fields: { expires_at: 1 }, expireAfterSeconds: 0 },
  ],
);
export type Notification = RecordOf<typeof NotificationModel>;

/** What a notification leads to. */
export type NoticeSubject = {
  [F in 'task_id' | 'conv_id' | 'approval_id' | 'delivery_id' | 'topic' | 'gathered']?: string | undefined;
};
/** `about`: the ids of the meetings, tasks, customers, documents and interviews that it tells about. */
export type Notice = Pick<Notification, 'key' | 'kind' | 'title' | 'body' | 'about'> &
  NoticeSubject & {
    /** When it goes, where what it tells about is forgotten earlier than notifications are. */
    expires_at?: Date | undefined;
  };

/**
 * Tells these users, each once an occasion however often this is called. One who has not read the last one that is `gathered`
 * by the same is not told; see `toldOf`.
 */
export async function notify(orgId: string, userIds: readonly string[], notice: Notice, now: Date): Promise<void> {
  if (userIds.length === 0) return;
  const { key, expires_at = new Date(now.getTime() + keptDays * 86_400_000), ...given } = notice;
  const said = defined({ ...given, expires_at }) as Omit<Notification, 'key' | 'read'>;
  const writes = () =>
    collectionOf(NotificationModel).bulkWrite(
      userIds.map((user_id) => ({
        updateOne: {
          filter: { user_id, org_id: orgId, key },
          update: {
            $setOnInsert: {
              ...said,
              _id: newId('notification'),
              read: false,
              created_at: now,
            },
          },
          upsert: true,
        },
      })),
      { ordered: false },
    );
  try {
    await writes();
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    // Two processes that insert the same one at once: the second time it is there.
    await writes().catch((again: unknown) => {
      // Of what is gathered, somebody has an unread one.
      if (notice.gathered === undefined || !isDuplicate(again)) throw again;
    });
  }
}

/** Those who were told of this occasion, whether or not they have read it. */
export async function toldOf(orgId: string, userIds: readonly string[], key: string): Promise<string[]> {
  const told = await collectionOf(NotificationModel)
    .find({ user_id: { $in: [...userIds] }, org_id: orgId, key }, { projection: { user_id: 1 } })
    .toArray();
  return told.map(({ user_id }) => user_id);
}

/** Has what is gathered by this told again to those who have not read the last one; that one stays unread. */
export async function gatherAnew(
  orgId: string,
  userIds: readonly string[],
  { gathered, key }: { gathered: string; key: string },
): Promise<void> {
  await collectionOf(NotificationModel).updateMany(
    { user_id: { $in: [...userIds] }, org_id: orgId, gathered, read: false, key: { $ne: key } },
    { $unset: { gathered: '' } },
  );
}

/** Tells every member of an organization. */
export async function notifyMembers(orgId: string, notice: Notice, now: Date): Promise<void> {
  const org = await collectionOf(OrganizationModel).findOne({ _id: orgId }, { projection: { members: 1 } });
  await notify(orgId, org?.members.map(({ user_id }) => user_id) ?? [], notice, now);
}

/** A user has seen what these kinds tell of a topic. */
export async function markReadAbout(
  orgId: string,
  userId: string,
  topic: string,
  kinds: readonly string[],
): Promise<void> {
  await collectionOf(NotificationModel).updateMany(
    { user_id: userId, org_id: orgId, topic, read: false, kind: { $in: [...kinds] } },
    { $set: { read: true } },
  );
}

/** Those of organizations that the user left are not shown, whatever was told before. */
const shownTo = (userId: string, orgIds: readonly string[]) => ({ user_id: userId, org_id: { $in: [...orgIds] } });

export type NotificationPage = { limit: number; before: string | undefined; unread: boolean | undefined };

/** What a user was told in these organizations, the newest first, from before this id on. */
export async function listNotifications(
  userId: string,
  orgIds: readonly string[],
  { limit, before, unread }: NotificationPage,
): Promise<Notification[]> {
  return collectionOf(NotificationModel)
    .find({
      ...shownTo(userId, orgIds),
      ...(unread === undefined ? {} : { read: !unread }),
      ...(before === undefined ? {} : { _id: { $lt: before } }),
    })
    .sort({ _id: -1 })
    .limit(limit)
    .toArray();
}

export async function countUnread(userId: string, orgIds: readonly string[]): Promise<number> {
  return collectionOf(NotificationModel).countDocuments({ ...shownTo(userId, orgIds), read: false });
}

/** Null when the user has no such notification. */
export async function markRead(
  userId: string,
  orgIds: readonly string[],
  notificationId: string,
): Promise<Notification | null> {
  return collectionOf(NotificationModel).findOneAndUpdate(
    { _id: notificationId, ...shownTo(userId, orgIds) },
    { $set: { read: true } },
    { returnDocument: 'after' },
  );
}
