/** The panel beside the conversation: who the customer is, what is known of them, and what happened. */
import type { InboxConversation } from '../../../../api/chat/contract/inbox.ts';
import { customerName } from './entry.tsx';
import { Link } from '../frame/link.tsx';
import { moment } from '../../rules/times.ts';
import { context, events } from '../../state/conversation.ts';
import { minute } from '../../state/minute.ts';
import { nameOf } from '../../state/people.ts';
import { locale, texts } from '../../texts/texts.ts';

export function Side({ one }: { one: InboxConversation }) {
  const t = texts.value;
  const { customer, ticket, csat, assigned_to, priority, tags, status } = one;
  const known = { ...context.value?.session, ...context.value?.page };
  return (
    <aside class="side" aria-label={t.customer} tabIndex={0}>
      <h3>{t.customer}</h3>
      <dl>
        <dt>{customerName(customer)}</dt>
        <dd>
          {customer.email} {!customer.verified && <span class="mark">{t.unverified}</span>}
        </dd>
        <dt>{t.statuses[status]}</dt>
        <dd>{ticket ? t.reasons[ticket.reason] : ''}</dd>
        <dt>{t.assigned}</dt>
        <dd>{assigned_to ? nameOf(assigned_to) || t.formerMember : t.nobody}</dd>
        {priority && <dt>{t.priority}</dt>}
        {priority && <dd>{t.priorities[priority]}</dd>}
        {tags.length > 0 && <dt>{t.tags}</dt>}
        {tags.length > 0 && <dd>{tags.join(', ')}</dd>}
        {csat && <dd>{t.rating(csat)}</dd>}
      </dl>
      <p>
        <Link to={{ screen: 'inbox', filters: { box: 'all', customer: customer.customer_id } }}>{t.earlier}</Link>
      </p>
      {Object.keys(known).length > 0 && (
        <>
          <h3>{t.context}</h3>
          <dl>
            {Object.entries(known).map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
              </div>
            ))}
          </dl>
        </>
      )}
      {events.value.length > 0 && (
        <>
          <h3>{t.history}</h3>
          <ol class="events">
            {events.value.map(({ event_id, type, at }) => (
              <li key={event_id}>
                {t.eventNames[type] ?? type} <small>{moment(at, minute.value, locale.value)}</small>
              </li>
            ))}
          </ol>
        </>
      )}
    </aside>
  );
}
