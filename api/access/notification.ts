import type { Notification } from '../../models/access/notification.ts';

export const viewNotification = (notification: Notification) => ({
  ...notification,
  notif_id: notification._id,
  created_at: notification.created_at.toISOString(),
});
