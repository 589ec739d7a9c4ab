/** The commands of `notifications`: the notifications of the logged-in person, in all of their organizations. */
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { command, listing, noun, steps } from '../described.ts';
import { shortTime } from '../output.ts';
import type { Session } from '../session.ts';
import * as contract from '../../api/access/contract/notifications.ts';

type Notification = z.infer<typeof contract.notification>;

const path = '/me/notifications';
/** The polling interval of `follow`, in ms. */
const pollMs = 2_000;

/** The id of the record that a notification is about. */
const aboutOf = ({ approval_id, delivery_id, conv_id, task_id }: Notification): string | undefined =>
  approval_id ?? delivery_id ?? conv_id ?? task_id;

export const notifications = noun({
  name: 'notifications',
  description: 'what you were told: who waits, what was assigned to you, what failed',
  login: true,
  example: 'ntf_01M7YGT1Y2M8Q0Z6V3C4K5R7XA',
  commands: [
    listing({
      name: 'list',
      description: 'list your notifications, newest first',
      examples: ['list', 'list --unread true'],
      does: contract.listNotifications,
      entries: 'notifications',
      columns: {
        NOTIFICATION: (one) => one.notif_id,
        READ: (one) => one.read,
        TOLD: (one) => one.created_at,
        KIND: (one) => one.kind,
        ABOUT: aboutOf,
        TITLE: (one) => one.title,
      },
      none: 'There are no such notifications.',
    }),
    command({
      name: 'read',
      description: 'mark a notification as read',
      does: contract.readNotification,
      args: { notifId: 'its identifier; notifications list shows it' },
      lines: ({ notification }) => [`Read ${notification.notif_id}`],
    }),
    steps({
      name: 'follow',
      description: 'show each new notification as it comes, until Ctrl-C; with --json each is a document of its own',
      examples: ['follow', 'follow --count 1 --json'],
      does: contract.listNotifications,
      // `follow` always asks for everything new, so these options do not exist.
      except: ['limit', 'unread'],
      fields: {
        of: z.object({ count: z.int().min(1).optional().meta({ description: 'end after this many' }) }),
        body: () => undefined,
      },
      runs: (session, { count }) => follow(session, count as number | undefined),
    }),
  ],
});

async function follow(session: Session, count = Number.POSITIVE_INFINITY): Promise<void> {
  const client = await session.member();
  const newest = (cursor?: string) =>
    client.request('GET', path, contract.notificationList, { query: { limit: 100, cursor } });
  const before = (await newest()).notifications;
  const seen = new Set(before.map(({ notif_id }) => notif_id));
  // Only notifications from this time on are new. An older one may move to the first page when others are removed.
  const since = before[0]?.created_at ?? '';
  session.output.note('Waiting for notifications; end with Ctrl-C.');
  for (let left = count; ; await wait(pollMs)) {
    const fresh: Notification[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await newest(cursor);
      const found = page.notifications.filter((one) => !seen.has(one.notif_id) && one.created_at >= since);
      fresh.push(...found);
      if (found.length === 0 || page.cursor === null) break;
      cursor = page.cursor;
    }
    for (const one of fresh.toReversed().slice(0, left)) {
      seen.add(one.notif_id);
      session.output.result(one, () => [
        `${shortTime(one.created_at)}  ${one.kind}  ${one.title}`,
        ...one.body.split('\n').map((line) => `  ${line}`),
      ]);
    }
    left -= fresh.length;
    if (left <= 0) return;
  }
}
