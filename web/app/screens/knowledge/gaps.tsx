/** The questions of customers that no document answered. */
import { call } from '../../api/call.ts';
import { listGaps, setGapStatus, type Gap } from '../../../../api/knowledge/contract/knowledge.ts';
import { Link } from '../frame/link.tsx';
import { usePages } from '../frame/more.tsx';
import { Act } from '../../parts/act.tsx';
import { moment } from '../../rules/times.ts';
import { address } from '../../state/route.ts';
import { here } from '../../state/session.ts';
import { locale, texts } from '../../texts/texts.ts';

/** The states to which a gap can be set, by its current state. */
const moves: Record<Gap['status'], readonly Gap['status'][]> = {
  open: ['acknowledged', 'resolved'],
  acknowledged: ['resolved', 'open'],
  resolved: ['open'],
};

/**
 * The id under which a gap is changed. A gap has an id for each of its wordings, and the server accepts any of them.
 */
const idOf = ({ gap_ids }: Gap): string => gap_ids[0]!;

export function Gaps() {
  const t = texts.value.knowledge;
  const status = (address.value.filters['status'] ?? 'open') as Gap['status'];
  const { data, error, act, more } = usePages(listGaps, 'gaps', { status });
  const set = (gap: Gap, to: Gap['status']) =>
    act(() => call(setGapStatus, { ...here(), body: { gap_ids: [idOf(gap)], status: to } }));
  const words = { open: t.reopen, acknowledged: t.acknowledge, resolved: t.resolve };
  return (
    <>
      <ul class="boxes">
        {Object.entries(t.gapStates).map(([one, name]) => (
          <li key={one}>
            <Link
              to={{ screen: 'knowledge', id: 'gaps', filters: { status: one } }}
              aria-current={one === status ? 'true' : undefined}
            >
              {name}
            </Link>
          </li>
        ))}
      </ul>
      {!data && <p class={error && 'error'}>{error || texts.value.loading}</p>}
      {data?.entries.length === 0 && <p>{t.noGaps}</p>}
      <ul class="cards">
        {data?.entries.map((gap) => (
          <li key={idOf(gap)}>
            <h2>{gap.question}</h2>
            <p>
              {t.asked(gap.count)}. {t.lastAsked}: {moment(gap.last_asked, new Date(), locale.value)}.{' '}
              {t.reasons[gap.why_missing]}
            </p>
            {gap.near.length > 0 && (
              <p>
                {t.nearest}:{' '}
                {gap.near.map(({ name, heading }) => [name, heading].filter(Boolean).join(', ')).join('; ')}
              </p>
            )}
            <p class="line">
              {status !== 'resolved' && (
                <Link
                  class="button"
                  to={{
                    screen: 'knowledge',
                    id: 'article',
                    part: 'new',
                    filters: { gap: idOf(gap), question: gap.question },
                  }}
                >
                  {t.answerIt}
                  <span class="hidden">: {gap.question}</span>
                </Link>
              )}
              {moves[gap.status].map((to) => (
                <Act key={to} name={words[to]} of={gap.question} act={() => set(gap, to)} />
              ))}
            </p>
          </li>
        ))}
      </ul>
      {more}
    </>
  );
}
