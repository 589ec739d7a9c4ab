/** What members are told by the system: one notification for each member and occasion. */
import { isDuplicate } from '../base/connect.ts';
import { collectionOf, defineModel } from '../base/define.ts';
import { newId } from '../base/ids.ts';
import { OrganizationModel } from './organization.ts';

export type Notification = {
  _id: string;
  user_id: string;
  org_id: string;
  /** The occasion: the same one notifies a member once. */
  key: string;
  /** What it is about, such as `integration_broken`. */
  kind: string;
  title: string;
  body: string;
  /** Of a notification about a task. */
  task_id?: string;
  read: boolean;
  created_at: Date;
  expires_at: Date;
};

/** Notifications are removed after half a year, read or not. */
const keptDays = 180;

export const NotificationModel = defineModel<Notification>(
  'Notification',
  'notifications',
  {
    _id: { type: String, required: true },
    user_id: { type: String, required: true },
    org_id: { type: String, required: true },
    key: { type: String, required: true },
    kind: { type: String, required: true },
    title: { type: String, required: true },
    body: { type: String, required: true },
    task_id: String,
    read: { type: Boolean, required: true },
    created_at: { type: Date, required: true },
    expires_at: { type: Date, required: true },
  },
  [
    { fields: { user_id: 1, org_id: 1, key: 1 }, unique: true },
    { fields: { user_id: 1, _id: -1 } },
    { fields: { user_id: 1, org_id: 1 }, partialFilterExpression: { read: false } },
    { fields: { expires_at: 1 }, expireAfterSeconds: 0 },
  ],
);

export type Notice = Pick<Notification, 'key' | 'kind' | 'title' | 'body'> & { task_id?: string | undefined };

/** Tells these users, each once an occasion however often this is called. */
export async function notify(orgId: string, userIds: readonly string[], notice: Notice, now: Date): Promise<void> {
  if (userIds.length === 0) return;
  const { key, task_id, ...said } = notice;
  const expires_at = new Date(now.getTime() + keptDays * 86_400_000);
  const writes = () =>
    collectionOf(NotificationModel).bulkWrite(
      userIds.map((user_id) => ({
        updateOne: {
          filter: { user_id, org_id: orgId, key },
          update: {
            $setOnInsert: {
              _id: newId('notification'),
              ...said,
              read: false,
              created_at: now,
              expires_at,
              ...(task_id === undefined ? {} : { task_id }),
            },
          },
          upsert: true,
        },
      })),
      { ordered: false },
    );
  // Two processes that insert the same one at once: the second time it is there.
  await writes().catch((error: unknown) => (isDuplicate(error) ? writes() : Promise.reject(error)));
}

/** Tells every member of an organization. */
export async function notifyMembers(orgId: string, notice: Notice, now: Date): Promise<void> {
  const org = await OrganizationModel.findById(orgId, { members: 1 }).lean();
  await notify(orgId, org?.members.map(({ user_id }) => user_id) ?? [], notice, now);
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
