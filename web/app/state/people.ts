/** The members of the organization, whether each is here or away, and in which conversations they read or write. */
import { signal } from '@preact/signals';
import { onFrame, type Person, type Viewing } from './live.ts';
import { user } from './session.ts';

export const people = signal<readonly Person[]>([]);
/** The colleagues who read or write in a conversation, by the conversation's id. */
export const viewers = signal<ReadonlyMap<string, readonly Viewing[]>>(new Map());

/** A member's name; empty for somebody who has left. */
export const nameOf = (userId: string): string => people.value.find(({ user_id }) => user_id === userId)?.name ?? '';

onFrame('welcome', ({ members, viewing }) => {
  people.value = members;
  viewers.value = Map.groupBy(
    viewing.filter(({ user_id }) => user_id !== user.value?.userId),
    ({ conv_id }) => conv_id,
  );
});
onFrame('member', ({ user_id, state }) => {
  people.value = people.value.map((one) => (one.user_id === user_id ? { ...one, state } : one));
});
onFrame('viewing', (one) => {
  const others = (viewers.value.get(one.conv_id) ?? []).filter(({ user_id }) => user_id !== one.user_id);
  viewers.value = new Map(viewers.value).set(one.conv_id, one.doing === 'gone' ? others : [...others, one]);
});
