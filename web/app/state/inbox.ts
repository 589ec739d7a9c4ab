/** The conversations of the inbox: each is kept once, by its id, and the newest version counts. */
import { computed, signal } from '@preact/signals';
import { call } from '../api/call.ts';
import { listInbox, type InboxConversation } from '../../../api/chat/contract/inbox.ts';
import { fits, order, queryOf, viewOf, type View } from '../rules/inbox.ts';
import { onFrame } from './live.ts';
import { address, go } from './route.ts';
import { here, mode, orgId, user } from './session.ts';
import { attempt } from './toast.ts';

const pageSize = 100;

const entries = signal<ReadonlyMap<string, InboxConversation>>(new Map());
/**
 * How far the list of the current view has been read. `view`: identifies the list (`sought`). `cursor`: the next page;
 * null when all pages have been read.
 */
const next = signal<{ view: string; cursor: string | null; count: number; busy: boolean } | undefined>();
export const total = computed(() => next.value?.count ?? 0);
export const loading = computed(() => next.value === undefined || next.value.busy);

export const view = computed<View>(() => viewOf(address.value.filters));
/** Identifies the list of the current view. The list belongs to one organization and mode. */
const sought = (): string => JSON.stringify([orgId.value, mode.value, view.value]);
export const entryOf = (convId: string): InboxConversation | undefined => entries.value.get(convId);

/** The conversations of the current view, in its order. */
export const shown = computed(() => {
  const wanted = view.value;
  const me = user.value?.userId ?? '';
  return [...entries.value.values()].filter((one) => fits(one, wanted, me)).sort(order(wanted));
});
/** Opens the conversation that is `by` places further down the list. Opens the first conversation when none is open. */
export function step(by: number): void {
  const list = shown.value;
  const { id, filters } = address.value;
  const at = list.findIndex(({ conv_id }) => conv_id === id);
  const to = list[at < 0 ? 0 : Math.min(list.length - 1, Math.max(0, at + by))];
  if (to) go({ screen: 'inbox', id: to.conv_id, filters }, { replace: true });
}

/** How many conversations wait for a person; the page's title shows it. */
export const waiting = computed(
  () => [...entries.value.values()].filter(({ waiting_since, snoozed }) => waiting_since && !snoozed).length,
);

/**
 * Stores conversations, unless a later version is known. A response may arrive after the member has chosen another
 * organization or mode, so conversations of other organizations and modes are ignored.
 */
export function put(...given: readonly InboxConversation[]): void {
  const all = new Map(entries.value);
  for (const one of given) {
    if (one.org_id !== orgId.value || one.mode !== mode.value) continue;
    const known = all.get(one.conv_id);
    if (!known || known.updated_at <= one.updated_at) all.set(one.conv_id, one);
  }
  entries.value = all;
}

/** Shows a change before the server has made it. Returns a function that undoes it. */
export function suppose(convId: string, change: Partial<InboxConversation>): () => void {
  const was = entries.value.get(convId);
  if (!was) return () => undefined;
  const supposed = { ...was, ...change };
  entries.value = new Map(entries.value).set(convId, supposed);
  return () => {
    if (entries.value.get(convId) === supposed) entries.value = new Map(entries.value).set(convId, was);
  };
}

export function forget(convId: string): void {
  const all = new Map(entries.value);
  all.delete(convId);
  entries.value = all;
}

/** Reads the current view from its beginning. */
export async function readView(): Promise<void> {
  next.value = undefined;
  await readMore();
}

/**
 * Reads the next page of the current view, if there is one. If that page adds no conversation to the list, the next
 * page is read, too.
 */
export async function readMore(): Promise<void> {
  const wanted = sought();
  const standing = next.value?.view === wanted ? next.value : undefined;
  if (standing?.busy || standing?.cursor === null) return;
  next.value = { view: wanted, cursor: standing?.cursor ?? '', count: standing?.count ?? 0, busy: true };
  const known = shown.value.length;
  await attempt(async () => {
    const { params, query } = here();
    const page = { limit: pageSize, cursor: standing?.cursor ?? undefined };
    const read = await call(listInbox, { params, query: { ...query, ...queryOf(view.value), ...page } });
    put(...read.conversations);
    if (sought() === wanted) next.value = { view: wanted, cursor: read.cursor, count: read.count, busy: false };
  });
  if (next.value?.view !== wanted) return;
  if (next.value.busy) next.value = { ...next.value, busy: false };
  else if (shown.value.length === known) await readMore();
}

/** Reads the conversations that wait, for the count in the title, whatever the current view is. */
export async function readWaiting(): Promise<void> {
  await attempt(async () => {
    const { params, query } = here();
    put(
      ...(await call(listInbox, { params, query: { ...query, ...queryOf(viewOf({})), limit: pageSize } }))
        .conversations,
    );
  });
}

/** Forgets all conversations, before another organization or mode is shown or all are read again. */
export function clear(): void {
  entries.value = new Map();
  next.value = undefined;
}

onFrame('conversation', ({ conversation }) => put(conversation));
onFrame('removed', ({ conv_id }) => forget(conv_id));
onFrame('reload', () => {
  // The server's lists do not name a conversation that has left them, so all known conversations are forgotten first.
  clear();
  void readWaiting();
  void readView();
});
