/**
 * The conversation that is open: its messages, notes and events, the members' actions, and replies that are being sent.
 */
import { computed, effect, signal } from '@preact/signals';
import { call, CallError, type BodyOf, type Given } from '../api/call.ts';
import type { Operation } from '../../../api/base/contract/operation.ts';
import {
  addNote,
  assignConversation,
  escalateConversation,
  getConversation,
  markConversationUnread,
  removeNote,
  reopenConversation,
  replyToConversation,
  resolveConversation,
  setConversationPriority,
  setConversationTags,
  snoozeConversation,
  suggestReply,
  unsnoozeConversation,
  type InboxConversation,
  type InboxMessage,
  type Note,
} from '../../../api/chat/contract/inbox.ts';
import { entryOf, put, suppose } from './inbox.ts';
import { link, onFrame, tell } from './live.ts';
import { people } from './people.ts';
import { address, go } from './route.ts';
import { here, loginEnded, mode, orgId, user, type Mode } from './session.ts';
import { attempt } from './toast.ts';
import { mentionsIn } from '../rules/writing.ts';
import { randomId } from '../../live/store.ts';

type Opened = Awaited<ReturnType<typeof read>>;
/**
 * A reply that the server has not confirmed. The page sends it again under the same id until it is confirmed, to the
 * organization and mode in which it was written.
 */
export type Waiting = { id: string; orgId: string; mode: Mode; convId: string; body: string; failed: string };

export const openId = signal('');
const opened = signal<Opened | undefined>();
/** The conversation from the inbox's state, which may be newer than the version that `read` returned. */
export const conversation = computed(() => entryOf(openId.value) ?? opened.value?.conversation);
export const messages = computed<readonly InboxMessage[]>(() => opened.value?.messages ?? []);
export const notes = computed<readonly Note[]>(() => opened.value?.notes ?? []);
export const events = computed(() => opened.value?.events ?? []);
export const context = computed(() => opened.value?.context);
export const older = computed(() => opened.value?.cursor ?? null);
export const missing = signal(false);
const written = signal<{ message_id: string; body: string } | undefined>(undefined);
/** The text so far of an answer that the agent is still writing. */
export const answering = computed(() =>
  messages.value.some(({ id }) => id === written.value?.message_id) ? undefined : written.value?.body,
);
/** Whether the customer is typing. */
export const typing = signal(false);
export const outgoing = signal<readonly Waiting[]>([]);

/** The member's unsent replies and notes, by the conversation's id. They are kept while the page is open. */
export const drafts = signal<ReadonlyMap<string, string>>(new Map());
export const draft = computed(() => drafts.value.get(openId.value) ?? '');
export const noteDrafts = signal<ReadonlyMap<string, string>>(new Map());
export const noteDraft = computed(() => noteDrafts.value.get(openId.value) ?? '');

const at = (convId = openId.value) => here({ convId });

function read(convId: string, cursor?: string) {
  const { params, query } = at(convId);
  return call(getConversation, { params, query: { ...query, limit: 50, cursor } });
}

/** Opens a conversation. An empty id closes the open one. */
export async function open(convId: string): Promise<void> {
  if (openId.value === convId) return;
  leave();
  due = false;
  openId.value = convId;
  opened.value = undefined;
  written.value = undefined;
  typing.value = false;
  missing.value = false;
  if (convId === '') return;
  await readAgain();
  if (openId.value === convId) view();
}

/**
 * Tells the server what this member does in the open conversation. A conversation that does not exist must not be
 * named, because the server then closes the socket. So nothing is told while the conversation is `missing`, or while a
 * read is still `due`.
 */
function view(doing = draft.value ? 'writing' : 'reading'): void {
  if (openId.value && !missing.value && !due) tell({ type: 'viewing', conv_id: openId.value, doing });
}

export const leave = (): void => view('gone');

export async function readAgain(): Promise<void> {
  const convId = openId.value;
  try {
    const found = await read(convId);
    if (openId.value !== convId) return;
    put(found.conversation);
    missing.value = false;
    // The older messages in the list stay if the first message found is in the list already. Otherwise messages between
    // the list and those found may be missing.
    const first = messages.value.findIndex(({ id }) => id === found.messages[0]?.id);
    const before = found.cursor === null ? [] : messages.value.slice(0, Math.max(0, first));
    opened.value =
      before.length > 0 ? { ...found, messages: [...before, ...found.messages], cursor: older.value } : found;
  } catch (error) {
    if (error instanceof CallError && error.status === 404 && openId.value === convId) missing.value = true;
    else await attempt(() => Promise.reject(error));
  }
}

export async function readOlder(): Promise<void> {
  const [convId, cursor] = [openId.value, older.value];
  if (cursor === null) return;
  await attempt(async () => {
    const found = await read(convId, cursor);
    // Another read, for example after a second press, may have changed the beginning of the list meanwhile.
    if (openId.value !== convId || older.value !== cursor || !opened.value) return;
    opened.value = { ...opened.value, messages: [...found.messages, ...opened.value.messages], cursor: found.cursor };
  });
}

/**
 * Reads the open conversation again after a change. A change during a read causes one more read afterwards. Reading
 * marks the conversation as read for the whole team. So a page in the background reads only when it is visible again.
 * Until then, the read is `due`.
 */
let reading = false;
let again = false;
let due = false;
async function refresh(): Promise<void> {
  due = document.hidden;
  if (due) return;
  again = reading;
  if (reading) return;
  reading = true;
  await readAgain();
  reading = false;
  if (again) await refresh();
}
onFrame('conversation', ({ conversation }) => {
  if (conversation.conv_id === openId.value) void refresh();
});
onFrame('removed', ({ conv_id }) => {
  if (conv_id === openId.value) missing.value = true;
});
onFrame('reload', () => {
  if (openId.value) void refresh();
});
onFrame('welcome', () => {
  if (openId.value) void refresh().then(() => view());
});
document.addEventListener('visibilitychange', () => {
  if (due) void refresh().then(() => view());
});
/** Every 30 s, repeats what the member does, because the server forgets it after a minute. */
setInterval(() => view(), 30_000);

export function type(body: string, convId = openId.value): void {
  const was = draft.value;
  drafts.value = new Map(drafts.value).set(convId, body);
  if (Boolean(was) !== Boolean(draft.value)) view();
}
export function typeNote(body: string, convId = openId.value): void {
  noteDrafts.value = new Map(noteDrafts.value).set(convId, body);
}

/** Joins texts with blank lines between them, without empty texts. */
const joined = (...texts: readonly string[]): string => texts.filter((text) => text.trim()).join('\n\n');

/** Appends a text to the typed reply. */
const add = (body: string, convId: string): void => type(joined((drafts.value.get(convId) ?? '').trim(), body), convId);

/** Sends the typed reply. The reply waits in `outgoing` while the server cannot be reached. */
export function reply(): void {
  const body = draft.value.trim();
  if (!body) return;
  const where = { orgId: orgId.value, mode: mode.value, convId: openId.value };
  outgoing.value = [...outgoing.value, { ...where, id: randomId(), body, failed: '' }];
  type('');
  void sendAll();
}

let sending = false;
async function sendAll(): Promise<void> {
  if (sending) return;
  sending = true;
  for (let next; (next = outgoing.value.find(({ failed }) => failed === ''));) if (!(await send(next))) break;
  sending = false;
}

/** Sends a reply. Returns false when it has to be sent again later. */
async function send({ id, body, convId, ...where }: Waiting): Promise<boolean> {
  // After the member's login has ended, another person may sign in to this browser. So the reply waits until the
  // member who wrote it is signed in again.
  if (loginEnded()) return later();
  try {
    const to = { params: { orgId: where.orgId, convId }, query: { mode: where.mode } };
    await call(replyToConversation, { ...to, body: { body, client_message_id: id } });
    if (convId === openId.value) await refresh();
    dropReply(id);
    return true;
  } catch (error) {
    const known = error instanceof CallError && error.status > 0 && error.status < 500 && error.status !== 429;
    if (!known || error.status === 401) return later();
    outgoing.value = outgoing.value.map((one) => (one.id === id ? { ...one, failed: error.message } : one));
    return true;
  }
}
function later(): false {
  setTimeout(() => void sendAll(), 3_000);
  return false;
}
export const dropReply = (id: string): void => void (outgoing.value = outgoing.value.filter((one) => one.id !== id));
/** Puts a refused reply back into the text box. */
export function takeBack({ id, convId, body }: Waiting): void {
  dropReply(id);
  add(body, convId);
}
effect(() => {
  if (link.value === 'open' && user.value) void sendAll();
});

type Act = Operation & Pick<typeof resolveConversation, 'reply'>;

/** Performs an action. `change` is shown at once, and undone when the action fails. */
async function act<O extends Act>(
  operation: O,
  body: BodyOf<O> | undefined,
  change: Partial<InboxConversation>,
): Promise<boolean> {
  const undo = suppose(openId.value, change);
  const made = await attempt(async () =>
    put((await call<Act>(operation, { ...at(), ...(body === undefined ? {} : { body }) } as Given<Act>)).conversation),
  );
  if (!made) undo();
  return made;
}

export const assign = (userId: string | null) => act(assignConversation, { user_id: userId }, { assigned_to: userId });
export const resolve = () => act(resolveConversation, undefined, { status: 'resolved', waiting_since: null });
export const reopen = () => act(reopenConversation, undefined, { status: 'open' });
export const escalate = (reason?: string) =>
  act(escalateConversation, reason === undefined ? {} : { reason }, { status: 'escalated' });
export const setTags = (tags: string[]) => act(setConversationTags, { tags }, { tags });
export const setPriority = (priority: InboxConversation['priority']) =>
  act(setConversationPriority, { priority }, { priority });
/** `until`: a time (ISO 8601), or `reply` to snooze until the customer writes. */
export const snooze = (until: string) =>
  act(snoozeConversation, { until }, { snoozed: { until: until === 'reply' ? null : until, by: user.value!.userId } });
export const wake = () => act(unsnoozeConversation, undefined, { snoozed: null });

/**
 * Marks the conversation as unread and closes it, because reading it again would mark it as read. A conversation that
 * is opened meanwhile stays open.
 */
export async function markUnread(): Promise<void> {
  const convId = openId.value;
  if ((await act(markConversationUnread, undefined, { read_position: 0 })) && openId.value === convId)
    go({ screen: 'inbox', filters: address.value.filters });
}

/**
 * Stores the typed note. The text box is emptied first: a second press stores nothing, and what is typed meanwhile
 * stays. If storing fails, the text is put back.
 */
export async function writeNote(): Promise<void> {
  const [convId, body] = [openId.value, noteDraft.value];
  if (!body.trim()) return;
  typeNote('');
  const mentions = mentionsIn(body, people.value);
  if (!(await attempt(() => call(addNote, { ...at(convId), body: { body, mentions } }))))
    typeNote(joined(body, noteDrafts.value.get(convId) ?? ''), convId);
  else if (convId === openId.value) await readAgain();
}
export const dropNote = (noteId: string): Promise<boolean> =>
  attempt(async () => {
    await call(removeNote, here({ convId: openId.value, noteId }));
    await readAgain();
  });

/**
 * Adds the agent's draft to the reply in the conversation that is open at the call. Returns false when the documents do
 * not answer the customer.
 */
export async function suggest(): Promise<boolean> {
  const convId = openId.value;
  const { suggestion } = await call(suggestReply, at(convId));
  if (suggestion) add(suggestion.body, convId);
  return suggestion !== null;
}

/**
 * How long somebody is shown as writing, in ms, unless another frame arrives. The time is limited, because the writer
 * may stop without sending anything.
 */
const writingMs = { customer: 5_000, agent: 20_000 };
const timers: Partial<Record<keyof typeof writingMs, ReturnType<typeof setTimeout>>> = {};
function until(who: keyof typeof writingMs, ended: () => void): void {
  clearTimeout(timers[who]);
  timers[who] = setTimeout(ended, writingMs[who]);
}
onFrame('answer', ({ conv_id, ...answer }) => {
  if (conv_id !== openId.value) return;
  written.value = answer;
  until('agent', () => (written.value = undefined));
});
onFrame('typing', ({ conv_id }) => {
  if (conv_id !== openId.value) return;
  typing.value = true;
  until('customer', () => (typing.value = false));
});
