/** A conversation in the list. */
import type { InboxConversation } from '../../../../api/chat/contract/inbox.ts';
import { Link } from '../frame/link.tsx';
import { moment, span } from '../../rules/times.ts';
import { minute } from '../../state/minute.ts';
import { nameOf, viewers } from '../../state/people.ts';
import { user } from '../../state/session.ts';
import { colourOf } from '../../state/tags.ts';
import { address } from '../../state/route.ts';
import { locale, texts } from '../../texts/texts.ts';

export const customerName = ({ name, email }: InboxConversation['customer']): string =>
  name ?? email ?? texts.value.anonymous;

/** The colleagues who read or write in the conversation now, as a sentence; empty when nobody does. */
export function around(convId: string): string {
  const there = viewers.value.get(convId) ?? [];
  const named = (doing: string) =>
    there
      .filter((one) => one.doing === doing)
      .map(({ user_id }) => nameOf(user_id))
      .join(', ');
  const [writing, reading] = [named('writing'), named('reading')];
  return [writing && texts.value.writes(writing), reading && texts.value.views(reading)].filter(Boolean).join('. ');
}

export function Entry({ one, current }: { one: InboxConversation; current: boolean }) {
  const t = texts.value;
  const now = minute.value;
  const {
    conv_id,
    customer,
    preview,
    unread,
    position,
    read_position,
    waiting_since,
    status,
    priority,
    tags,
    assigned_to,
  } = one;
  /** A conversation that the member has never opened counts as new only when it is assigned to them. */
  const isMine = read_position !== null || assigned_to === user.value?.userId;
  const isNew = unread === 0 && isMine && position > (read_position ?? 0);
  return (
    <Link
      class={unread > 0 ? 'entry unread' : 'entry'}
      to={{ screen: 'inbox', id: conv_id, filters: address.value.filters }}
      aria-current={current ? 'true' : undefined}
    >
      <span class="line">
        <strong>{customerName(customer)}</strong>
        {waiting_since ? (
          <em>{t.waits(span(now.getTime() - Date.parse(waiting_since), locale.value))}</em>
        ) : (
          <small>{moment(one.last_message_at ?? one.created_at, now, locale.value)}</small>
        )}
      </span>
      <span class="preview">{preview}</span>
      <span class="line">
        <span class={`status ${status}`}>{t.statuses[status]}</span>
        {priority && <span class={`priority ${priority}`}>{t.priorities[priority]}</span>}
        {tags.map((tag) => (
          <span class={`tag ${colourOf(tag)}`} key={tag}>
            {tag}
          </span>
        ))}
        {assigned_to && <small>{nameOf(assigned_to)}</small>}
        {isNew && <small>{t.newToMe}</small>}
        {unread > 0 && (
          <span class="count" aria-label={t.unread(unread)}>
            {unread}
          </span>
        )}
      </span>
      {around(conv_id) && <small class="around">{around(conv_id)}</small>}
    </Link>
  );
}
