/**
 * The member's notifications: their list, the page's title with the number of waiting conversations, the browser's own
 * notifications, and a sound.
 */
import { computed, effect, signal } from '@preact/signals';
import { call } from '../api/call.ts';
import {
  getNotices,
  listNotifications,
  readNotification,
  type Notification as Notice,
} from '../../../api/access/contract/notifications.ts';
import { openId } from './conversation.ts';
import { onFrame } from './live.ts';
import { waiting } from './inbox.ts';
import { go } from './route.ts';
import { choose, chooseMode, org, orgId, user } from './session.ts';
import { attempt, toast } from './toast.ts';
import type { Screen } from '../rules/address.ts';
import { isQuiet } from '../rules/times.ts';
import { texts } from '../texts/texts.ts';

export const notices = signal<readonly Notice[]>([]);
export const unread = computed(() => notices.value.filter(({ read }) => !read).length);

/** Marks a notification as read, and opens what it is about, in its own organization and mode. */
export async function follow(notice: Notice): Promise<void> {
  void call(readNotification, { params: { notifId: notice.notif_id } }).catch(() => undefined);
  notices.value = notices.value.map((one) => (one === notice ? { ...one, read: true } : one));
  const to = placeOf(notice);
  if (!to) return;
  if (notice.org_id !== orgId.value && !(await attempt(() => choose(notice.org_id)))) return;
  if (notice.mode) chooseMode(notice.mode);
  go(to);
}

function placeOf({ conv_id, approval_id, delivery_id }: Notice): { screen: Screen; id: string } | undefined {
  if (approval_id) return { screen: 'tools', id: 'approvals' };
  if (delivery_id) return { screen: 'deliveries', id: delivery_id };
  return conv_id ? { screen: 'inbox', id: conv_id } : undefined;
}

/** Whether opening this conversation marks the notification as read. */
const isAbout = ({ conv_id, approval_id, delivery_id }: Notice, convId: string): boolean =>
  conv_id === convId && !approval_id && !delivery_id;

/**
 * Reads the list. An answer is dropped when the list has changed meanwhile, because it may be older than the change.
 * The page reads a conversation on screen at the same time, so the answer may still say that notifications about it
 * are unread.
 */
async function read(): Promise<void> {
  // An effect calls this function, and must not run again when the list changes. So the list is peeked at.
  const before = notices.peek();
  const { notifications } = await call(listNotifications, { query: { limit: 50 } });
  if (notices.peek() !== before) return read();
  const shown = document.hidden ? '' : openId.peek();
  notices.value = notifications.map((one) => (isAbout(one, shown) ? { ...one, read: true } : one));
}

/** Shows a new notification in the ways that the member has chosen. */
async function show(notice: Notice): Promise<void> {
  notices.value = [notice, ...notices.value.filter(({ notif_id }) => notif_id !== notice.notif_id)];
  toast(notice.title);
  const { browser, sound, quiet_hours } = await call(getNotices);
  if (quiet_hours && isQuiet(quiet_hours, new Date())) return;
  if (browser && document.hidden && 'Notification' in window && Notification.permission === 'granted') {
    const shown = new Notification(notice.title, { body: notice.body, tag: notice.notif_id });
    shown.addEventListener('click', () => {
      window.focus();
      void follow(notice);
    });
  }
  if (sound) ring();
}

/** Plays a short tone. It is synthesized here, so the page loads no sound file. */
function ring(): void {
  const audio = new AudioContext();
  const tone = audio.createOscillator();
  const loudness = audio.createGain();
  loudness.gain.value = 0.1;
  tone.connect(loudness).connect(audio.destination);
  tone.start();
  tone.stop(audio.currentTime + 0.15);
}

export function showNotices(): void {
  effect(() => {
    // Opening a conversation marks the notifications about it as read.
    const convId = openId.value;
    const those = notices.peek();
    const isRead = (one: Notice) => !one.read && isAbout(one, convId);
    if (those.some(isRead)) notices.value = those.map((one) => (isRead(one) ? { ...one, read: true } : one));
  });
  effect(() => {
    if (user.value) void read().catch(() => undefined);
  });
  effect(() => {
    const count = waiting.value;
    document.title = `${count > 0 ? `(${count}) ` : ''}${texts.value.title}${org.value ? ` · ${org.value.name}` : ''}`;
  });
  // The server sends each notification once, and only to pages that are connected. So a page that connects again reads
  // what it may have missed.
  onFrame('welcome', () => void read().catch(() => undefined));
  onFrame('notification', ({ notification }) => void show(notification).catch(() => undefined));
}
