/** The inbox: the views, the list of the current view, and the conversation that is open. */
import { useEffect } from 'preact/hooks';
import { ConversationPane } from './conversation.tsx';
import { Entry } from './entry.tsx';
import { Hits, SearchBox } from './search.tsx';
import { Link } from '../frame/link.tsx';
import { useKeys } from '../../parts/keys.ts';
import { Rows } from '../../parts/rows.tsx';
import { boxes } from '../../rules/inbox.ts';
import { open } from '../../state/conversation.ts';
import { loading, readMore, readView, shown, step, total, view, waiting } from '../../state/inbox.ts';
import { address, go } from '../../state/route.ts';
import { mode, orgId } from '../../state/session.ts';
import { texts } from '../../texts/texts.ts';

const entryHeight = 92;

export function InboxScreen() {
  const t = texts.value;
  const { id, filters } = address.value;
  const { box } = view.value;
  useEffect(() => void readView(), [JSON.stringify(view.value), orgId.value, mode.value]);
  useEffect(() => void open(id), [id]);
  useEffect(() => () => void open(''), []);
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    u: () => go({ screen: 'inbox', filters: { ...filters, unread: view.value.unread ? '' : 'true' } }),
    Escape: () => (id || filters['q'] ? go({ screen: 'inbox', filters: id ? filters : { ...filters, q: '' } }) : false),
  });
  return (
    <main class={id ? 'inbox open' : 'inbox'}>
      <h1 class="hidden">{t.screens['inbox']}</h1>
      <section class="list" aria-label={t.conversations}>
        <ul class="boxes">
          {boxes.map((one) => (
            <li key={one}>
              <Link
                to={{ screen: 'inbox', filters: { ...filters, box: one, q: '' } }}
                aria-current={one === box ? 'true' : undefined}
              >
                {t.boxes[one]}
                {one === 'waiting' && waiting.value > 0 && <span class="count">{waiting.value}</span>}
              </Link>
            </li>
          ))}
        </ul>
        <SearchBox />
        {filters['q'] ? (
          <Hits key={`${orgId.value} ${mode.value} ${filters['q']}`} q={filters['q']} />
        ) : (
          <Rows
            label={`${t.boxes[box]} (${Math.max(total.value, shown.value.length)})`}
            items={shown.value}
            height={entryHeight}
            keyOf={({ conv_id }) => conv_id}
            row={(one) => <Entry one={one} current={one.conv_id === id} />}
            current={id}
            more={() => void readMore()}
            empty={loading.value ? t.loading : t.noConversations}
          />
        )}
      </section>
      {id ? <ConversationPane key={id} /> : <p class="empty">{t.chooseConversation}</p>}
    </main>
  );
}
