/** In-app notifications of members: one for each member and occasion. */
import { isDuplicate } from '../base/connect.ts';
import { aboutField, aboutIndex } from '../base/copies.ts';
import { collectionOf, defineModel, newest, olderThan, updaterOf, type RecordOf } from '../base/define.ts';
import { tellStaff } from '../live/staff.ts';
import { boolean, date, embedded, oneOf, optional, string } from '../rules/base/fields.ts';
import { newId } from '../base/ids.ts';
import { OrganizationModel } from './organization.ts';
import { defined } from '../rules/base/defined.ts';
import { modes, type Mode } from '../rules/access/keys.ts';
import { expiryOf } from '../rules/base/retention.ts';

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
    /** The id of the tool call that waits for a member's approval. */
    approval_id: optional(string),
    delivery_id: optional(string),
    /** Whether the notification concerns test or live data; absent when it concerns neither. */
    mode: optional(oneOf(modes)),
    /** Groups notifications that are marked as read together, such as `conversation:<id>`. */
    topic: optional(string),
    /** Groups repeated notifications: a member has at most one unread notification with the same value. */
    gathered: optional(string),
    about: aboutField,
    read: boolean,
    /** The pending mail. `at`: when the mail is sent, unless the user reads the notification earlier. */
    mail: optional(embedded({ at: date, mode: oneOf(modes) })),
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
    { fields: { org_id: 1, 'mail.at': 1 }, partialFilterExpression: { 'mail.at': { $exists: true } } },
    aboutIndex,
    { fields: { expires_at: 1 }, expireAfterSeconds: 0 },
  ],
);
export type Notification = RecordOf<typeof NotificationModel>;

const update = updaterOf(NotificationModel);

/** The ids of the records that a notification links to, and its groups (`topic`, `gathered`). */
export type NoticeSubject = {
  [F in 'task_id' | 'conv_id' | 'approval_id' | 'delivery_id' | 'topic' | 'gathered']?: string | undefined;
};
export type Notice = Pick<Notification, 'key' | 'kind' | 'title' | 'body' | 'about'> &
  NoticeSubject & {
    mode?: Mode | undefined;
    /** When the notification expires; set when its content expires earlier than notifications do. */
    expires_at?: Date | undefined;
  };

/**
 * The mails of a notification. `at`: when each user gets the mail, by user id; a user without an entry gets no mail.
 */
export type Mails = { mode: Mode; at: ReadonlyMap<string, Date> };

/**
 * Notifies each user at most once per `key`, so that a retry is safe. A user who has an unread notification with the
 * same value of `gathered` gets no new one.
 */
export async function notify(
  orgId: string,
  userIds: readonly string[],
  notice: Notice,
  now: Date,
  mails?: Mails,
): Promise<void> {
  if (userIds.length === 0) return;
  const mailOf = (userId: string) => {
    const at = mails?.at.get(userId);
    return at === undefined ? {} : { mail: { at, mode: mails!.mode } };
  };
  const { key, expires_at = expiryOf('notifications', now), ...given } = notice;
  const said = defined({ ...given, expires_at }) as Omit<Notification, 'key' | 'read'>;
  const writes = () =>
    collectionOf(NotificationModel).bulkWrite(
      userIds.map((user_id) => ({
        updateOne: {
          filter: { user_id, org_id: orgId, key },
          update: {
            $setOnInsert: {
              ...said,
              ...mailOf(user_id),
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
  await written(writes, notice);
  await tellStaff(orgId, { type: 'told', body: { key } }, now);
}

/**
 * Performs the writes, and retries once when another process has inserted the same notification at the same time; the
 * retry finds that notification.
 */
async function written(writes: () => Promise<unknown>, notice: Pick<Notice, 'gathered'>): Promise<void> {
  try {
    await writes();
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    await writes().catch((again: unknown) => {
      // The user already has an unread notification with the same value of `gathered`, so the user gets no new one.
      if (notice.gathered === undefined || !isDuplicate(again)) throw again;
    });
  }
}

export async function notificationsOf(orgId: string, userIds: readonly string[], key: string): Promise<Notification[]> {
  return collectionOf(NotificationModel)
    .find({ user_id: { $in: [...userIds] }, org_id: orgId, key })
    .toArray();
}

/** The users who have a notification with this key, read or not. */
export async function toldOf(orgId: string, userIds: readonly string[], key: string): Promise<string[]> {
  return (await notificationsOf(orgId, userIds, key)).map(({ user_id }) => user_id);
}

/**
 * Lets the users get another notification with the same value of `gathered` before they have read the earlier one. The
 * earlier notification stays unread and is not mailed any more. `key`: the key of the new notification; a retry leaves
 * this notification unchanged.
 */
export async function gatherAnew(
  orgId: string,
  userIds: readonly string[],
  { gathered, key }: { gathered: string; key: string },
): Promise<void> {
  await collectionOf(NotificationModel).updateMany(
    { user_id: { $in: [...userIds] }, org_id: orgId, gathered, read: false, key: { $ne: key } },
    { $unset: { gathered: '', mail: '' } },
  );
}

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
    { $set: { read: true }, $unset: { mail: '' } },
  );
}

/** The notifications about one conversation, tool call or delivery that are to be mailed, in no particular order. */
export async function listToMail(
  orgId: string,
  about: Pick<Notification, 'conv_id'> | Pick<Notification, 'approval_id'> | Pick<Notification, 'delivery_id'>,
): Promise<MailedNotification[]> {
  return collectionOf(NotificationModel)
    .find<MailedNotification>({ org_id: orgId, ...about, 'mail.at': { $exists: true } })
    .toArray();
}
export type MailedNotification = Notification & Required<Pick<Notification, 'mail'>>;

/** Changes the time of the notification's mail, unless the notification no longer waits to be mailed. */
export const postponeMail = ({ _id, org_id }: Pick<Notification, '_id' | 'org_id'>, at: Date) =>
  update(org_id, _id, { $set: { 'mail.at': at } }, { 'mail.at': { $exists: true } });

/** Stores that the notification no longer waits to be mailed. */
export const settleMail = ({ _id, org_id }: Pick<Notification, '_id' | 'org_id'>) =>
  update(org_id, _id, { $unset: { mail: '' } });

/**
 * Matches only notifications of the given organizations. So a user sees no notifications of organizations that the user
 * has left.
 */
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
  const read = unread === undefined ? {} : { read: !unread };
  const which = { ...shownTo(userId, orgIds), ...read, ...olderThan(before) };
  return newest(collectionOf(NotificationModel).find(which), limit);
}

export async function countUnread(userId: string, orgIds: readonly string[]): Promise<number> {
  return collectionOf(NotificationModel).countDocuments({ ...shownTo(userId, orgIds), read: false });
}

export async function markRead(
  userId: string,
  orgIds: readonly string[],
  notificationId: string,
): Promise<Notification | null> {
  return collectionOf(NotificationModel).findOneAndUpdate(
    { _id: notificationId, ...shownTo(userId, orgIds) },
    { $set: { read: true }, $unset: { mail: '' } },
    { returnDocument: 'after' },
  );
}
