/** In-app notifications of members: one for each member and occasion. */
import { isDuplicate } from '../base/connect.ts';
import { aboutField, aboutIndex } from '../base/copies.ts';
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { boolean, date, optional, string } from '../rules/base/fields.ts';
import { newId } from '../base/ids.ts';
import { OrganizationModel } from './organization.ts';
import { defined } from '../rules/base/defined.ts';

/** The retention period of notifications, in days, read or not. */
const keptDays = 180;

export const NotificationModel = defineModel(
  'Notification',
  'notifications',
  {
    _id: string,
    user_id: string,
    org_id: string,
    /** Identifies the occasion; a member gets at most one notification with the same key. */
    key: string,
    /** The kind of event, such as `integration_broken`. */
    kind: string,
    title: string,
    body: string,
    task_id: optional(string),
    conv_id: optional(string),
    /** A tool call that waits for a member's approval. */
    approval_id: optional(string),
    delivery_id: optional(string),
    /** Groups notifications that are marked as read together, such as `conversation:<id>`. */
    topic: optional(string),
    /** Groups repeated notifications: a member has at most one unread notification with the same value. */
    gathered: optional(string),
    /** The ids of the things whose content the notification contains; it is deleted with them. */
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

/** The ids of the things that a notification links to, and its groups. */
export type NoticeSubject = {
  [F in 'task_id' | 'conv_id' | 'approval_id' | 'delivery_id' | 'topic' | 'gathered']?: string | undefined;
};
/** `about`: the ids of the meetings, tasks, customers, documents and interviews whose content it contains. */
export type Notice = Pick<Notification, 'key' | 'kind' | 'title' | 'body' | 'about'> &
  NoticeSubject & {
    /** Set when the content expires earlier than notifications do. */
    expires_at?: Date | undefined;
  };

/**
 * Notifies the users, once per `key` however often this is called. A user who has an unread notification with the same
 * `gathered` gets none; see `toldOf`.
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
    // Two processes inserted the same notification at once; the second attempt finds it.
    await writes().catch((again: unknown) => {
      // The user already has an unread notification with the same `gathered`.
      if (notice.gathered === undefined || !isDuplicate(again)) throw again;
    });
  }
}

/** The users who have a notification with this key, read or not. */
export async function toldOf(orgId: string, userIds: readonly string[], key: string): Promise<string[]> {
  const told = await collectionOf(NotificationModel)
    .find({ user_id: { $in: [...userIds] }, org_id: orgId, key }, { projection: { user_id: 1 } })
    .toArray();
  return told.map(({ user_id }) => user_id);
}

/**
 * Lets the users be notified again with the same `gathered`, although they have not read the previous notification,
 * which stays unread.
 */
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

/** Notifies every member of an organization. */
export async function notifyMembers(orgId: string, notice: Notice, now: Date): Promise<void> {
  const org = await collectionOf(OrganizationModel).findOne({ _id: orgId }, { projection: { members: 1 } });
  await notify(orgId, org?.members.map(({ user_id }) => user_id) ?? [], notice, now);
}

/** Marks a user's unread notifications of these kinds about a topic as read. */
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

/** Hides notifications of organizations that the user has left. */
const shownTo = (userId: string, orgIds: readonly string[]) => ({ user_id: userId, org_id: { $in: [...orgIds] } });

export type NotificationPage = { limit: number; before: string | undefined; unread: boolean | undefined };

/**
 * A page of a user's notifications in these organizations, newest first; `before` is the last id of the previous page.
 */
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
