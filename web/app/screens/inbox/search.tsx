/** The search of the inbox: its box (shortcut `/`), and the hits, in which the found words are marked. */
import { useRef } from 'preact/hooks';
import type { ReplyOf } from '../../api/call.ts';
import { searchInbox } from '../../../../api/chat/contract/search.ts';
import { Link } from '../frame/link.tsx';
import { usePages } from '../frame/more.tsx';
import { useKeys } from '../../parts/keys.ts';
import { textOf } from '../../parts/field.tsx';
import { Rows } from '../../parts/rows.tsx';
import { moment } from '../../rules/times.ts';
import { minute } from '../../state/minute.ts';
import { address, go } from '../../state/route.ts';
import { locale, texts } from '../../texts/texts.ts';

type Hit = ReplyOf<typeof searchInbox>['hits'][number];

export function SearchBox() {
  const t = texts.value;
  const box = useRef<HTMLInputElement>(null);
  const { id, filters } = address.value;
  useKeys({ '/': () => box.current?.focus() });
  return (
    <form
      role="search"
      class="search"
      onSubmit={(event) => {
        event.preventDefault();
        const q = textOf(event.currentTarget, 'q').trim();
        go({ screen: 'inbox', id, filters: { ...filters, q } });
      }}
    >
      <input
        ref={box}
        key={filters['q'] ?? ''}
        name="q"
        type="search"
        aria-label={t.search}
        placeholder={`${t.search} /`}
        maxLength={200}
        defaultValue={filters['q'] ?? ''}
      />
    </form>
  );
}

export function Hits({ q }: { q: string }) {
  const t = texts.value;
  const { data, error, next } = usePages(searchInbox, 'hits', { q });
  return (
    <>
      <Rows
        label={t.found(q)}
        items={data?.entries ?? []}
        height={92}
        keyOf={({ conv_id, message_id, at }) => `${conv_id} ${message_id} ${at}`}
        row={(hit) => <HitShown hit={hit} />}
        more={() => void next()}
        empty={data ? t.foundNothing : error ? '' : t.loading}
      />
      {error && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
    </>
  );
}

const HitShown = ({ hit: { conv_id, in: place, at, excerpt, marks } }: { hit: Hit }) => (
  <Link
    class="entry"
    to={{ screen: 'inbox', id: conv_id, filters: address.value.filters }}
    aria-current={conv_id === address.value.id ? 'true' : undefined}
  >
    <span class="line">
      <small>{texts.value.places[place]}</small> <small>{moment(at, minute.value, locale.value)}</small>
    </span>
    <span class="excerpt">{marked(excerpt, marks)}</span>
  </Link>
);

/** The text with the found words marked. Of overlapping marks, only the first is used. */
function marked(text: string, marks: readonly number[][]) {
  let at = 0;
  const parts = marks.flatMap(([start = 0, end = 0]) => {
    if (start < at) return [];
    const before = text.slice(at, start);
    at = end;
    return [before, <mark key={start}>{text.slice(start, end)}</mark>];
  });
  return [...parts, text.slice(at)];
}
