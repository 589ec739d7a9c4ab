/** The WebSocket that reports each change of the inbox as it happens. Other files of `state/` listen to its frames. */
import { signal } from '@preact/signals';
import { call, CallError } from '../api/call.ts';
import { openLive } from '../../../api/chat/contract/live.ts';
import type { InboxConversation } from '../../../api/chat/contract/inbox.ts';
import type { Notification as Notice } from '../../../api/access/contract/notifications.ts';
import { mode, orgId } from './session.ts';
import { openLink, Unreachable, type Link, type LinkState } from '../../live/connection.ts';

export const link = signal<LinkState>('connecting');
/** The frames that are listened to, by their type. */
export type Frames = {
  welcome: { members: Person[]; viewing: Viewing[] };
  conversation: { conversation: InboxConversation };
  removed: { conv_id: string };
  reload: object;
  viewing: Viewing;
  typing: { conv_id: string };
  answer: { conv_id: string; message_id: string; body: string };
  member: Pick<Person, 'user_id' | 'state'>;
  notification: { notification: Notice };
};
export type Person = { user_id: string; name: string; state: 'here' | 'away' };
export type Viewing = { conv_id: string; user_id: string; doing: 'reading' | 'writing' | 'gone' };

const listeners = new Map<string, ((frame: never) => void)[]>();
let open: Link | undefined;
/** The time of the last received change, from which the next connection resumes. */
let since: string | undefined;

/** Calls `listener` for each frame of a type. */
export function onFrame<K extends keyof Frames>(type: K, listener: (frame: Frames[K]) => void): void {
  listeners.set(type, [...(listeners.get(type) ?? []), listener]);
}

export const tell = (frame: Record<string, unknown>): boolean => open?.send(frame) ?? false;

/** Connects to the chosen organization and mode. `anew`: one of them has changed, so nothing is resumed. */
export function connect({ anew }: { anew: boolean }): void {
  open?.close();
  if (anew) since = undefined;
  open = openLink({
    address,
    frame(frame) {
      if (typeof frame['at'] === 'string') since = frame['at'];
      for (const listener of listeners.get(frame.type) ?? []) listener(frame as never);
    },
    state(state) {
      // `ended` means that the login has ended or that the members have changed. Requesting a new address shows which
      // of the two happened.
      if (state === 'ended') setTimeout(() => connect({ anew: false }));
      else link.value = state;
    },
    unreadable: () => undefined,
    // The page always connects again. The server closes the socket when this page named a conversation that does not
    // exist, and the next socket names only a conversation that can be read. If the organization itself is missing,
    // `address` throws `Unreachable`, and the link ends.
    missing: () => true,
  });
}

async function address(): Promise<string> {
  try {
    const { ws_url } = await call(openLive, { params: { orgId: orgId.value } });
    const url = new URL(ws_url);
    // The page may be open under another host name than the public one, so the socket uses the page's own.
    url.host = location.host;
    url.protocol = location.protocol.replace('http', 'ws');
    url.searchParams.set('mode', mode.value);
    if (since !== undefined) url.searchParams.set('since', since);
    return url.href;
  } catch (error) {
    if (error instanceof CallError && [401, 403, 404].includes(error.status)) throw new Unreachable();
    throw error;
  }
}
