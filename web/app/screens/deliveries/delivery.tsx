/** A delivery: its attempts, the receiver's responses, and the request that is sent. */
import { call } from '../../api/call.ts';
import { getDelivery, redeliver } from '../../../../api/events/contract/outbox.ts';
import { useEvery, useLoaded } from '../frame/loaded.ts';
import { useKeys } from '../../parts/keys.ts';
import { moment } from '../../rules/times.ts';
import { here } from '../../state/session.ts';
import { locale, texts } from '../../texts/texts.ts';

export function DeliveryShown({ deliveryId, again: listAgain }: { deliveryId: string; again: () => Promise<void> }) {
  const t = texts.value.deliveries;
  const at = here({ deliveryId });
  const { data, error, again, act } = useLoaded(() => call(getDelivery, at), [deliveryId]);
  const one = data?.delivery;
  useEvery(2_000, one?.status === 'pending' || one?.status === 'retrying', again);
  const send = async () => {
    await act(() => call(redeliver, at), t.sentAgain);
    await listAgain();
  };
  const isOver = one?.status === 'failed' || one?.status === 'delivered';
  useKeys({ s: () => (isOver ? void send() : false) });
  if (!one) return <p class={error && 'error'}>{error || texts.value.loading}</p>;
  const time = (iso: string) => moment(iso, new Date(), locale.value);
  return (
    <section class="card" aria-label={one.event_type}>
      <h2>
        {one.event_type} <span class="mark">{t.states[one.status]}</span>
      </h2>
      <p>
        {t.kinds[one.kind]}, {one.destination}
      </p>
      {one.error && <p class="error">{one.error}</p>}
      {one.next_attempt_at && <p>{t.next(time(one.next_attempt_at))}</p>}
      {isOver && (
        <button type="button" class="main" onClick={() => void send()}>
          {t.again} <kbd>s</kbd>
        </button>
      )}
      <h3>{t.attempts}</h3>
      {one.attempts.length === 0 && <p>{t.noAttempts}</p>}
      <ol>
        {one.attempts.map(({ at: when, status_code, duration_ms, error: failed, response_head }) => (
          <li key={when}>
            {time(when)} {status_code} {duration_ms} ms {failed && <span class="error">{failed}</span>}
            {response_head && (
              <p>
                {t.said}: <code>{response_head}</code>
              </p>
            )}
          </li>
        ))}
      </ol>
      {one.request && (
        <details>
          <summary>{t.request}</summary>
          <pre tabIndex={0}>
            {one.request.method} {one.request.url}
            {'\n'}
            {Object.entries(one.request.headers)
              .map(([name, value]) => `${name}: ${value}`)
              .join('\n')}
            {'\n\n'}
            {one.request.body}
          </pre>
        </details>
      )}
    </section>
  );
}
