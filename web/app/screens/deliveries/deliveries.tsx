/** What was sent to other services: destinations, deliveries, and the attempts of the open delivery. */
import { call } from '../../api/call.ts';
import { listDeliveries, recoverDeliveries, sendTestEvent } from '../../../../api/events/contract/outbox.ts';
import { DeliveryShown } from './delivery.tsx';
import { Form } from '../frame/form.tsx';
import { Link } from '../frame/link.tsx';
import { useEvery } from '../frame/loaded.ts';
import { usePages } from '../frame/more.tsx';
import { Act } from '../../parts/act.tsx';
import { Options, Text, textOf } from '../../parts/field.tsx';
import { Table } from '../../parts/table.tsx';
import { moment } from '../../rules/times.ts';
import { address, go } from '../../state/route.ts';
import { here, isAdmin } from '../../state/session.ts';
import { toast } from '../../state/toast.ts';
import { locale, texts } from '../../texts/texts.ts';

export default function Deliveries() {
  const t = texts.value.deliveries;
  const { id, filters } = address.value;
  const { status = '', kind = '' } = filters;
  const { data, error, again, act, more } = usePages(listDeliveries, 'deliveries', {
    status: status as 'failed',
    kind: kind as 'slack',
  });
  useEvery(3_000, data?.entries.some((one) => one.status === 'pending') ?? false, again);
  const choice = (name: 'status' | 'kind', every: string, names: Record<string, string>) => (
    <select
      aria-label={name === 'status' ? texts.value.state : t.destination}
      value={filters[name] ?? ''}
      onChange={({ currentTarget }) =>
        go({ screen: 'deliveries', filters: { ...filters, [name]: currentTarget.value } })
      }
    >
      <Options names={{ '': every, ...names }} />
    </select>
  );
  const test = () => act(() => call(sendTestEvent, here()), t.testSent);
  const recover = async (form: HTMLFormElement) => {
    const since = new Date(textOf(form, 'since')).toISOString();
    const { recovered } = await call(recoverDeliveries, { ...here(), body: { since } });
    toast(t.recovered(recovered));
    await again();
  };
  return (
    <main class="page">
      <h1>{texts.value.screens['deliveries']}</h1>
      {id && <DeliveryShown key={id} deliveryId={id} again={again} />}
      {!data && <p class={error && 'error'}>{error || texts.value.loading}</p>}
      {data && (
        <>
          <section aria-label={t.destinations}>
            <h2>{t.destinations}</h2>
            {data.destinations.length === 0 && <p>{t.noDestinations}</p>}
            <ul>
              {data.destinations.map((one) => (
                <li key={one.kind}>
                  {t.kinds[one.kind]}:{' '}
                  <strong class={one.status === 'active' ? '' : 'error'}>{t.destinationStates[one.status]}</strong>{' '}
                  {one.failing_since && t.since(moment(one.failing_since, new Date(), locale.value))}{' '}
                  {one.slow && t.slow} {one.last_error}
                </li>
              ))}
            </ul>
          </section>
          {isAdmin.value && (
            <details>
              <summary>{t.recover}</summary>
              <Form send={recover} action={t.recover} beside={<Act name={t.test} act={test} />}>
                <Text name="since" label={t.recoverSince} type="datetime-local" required />
              </Form>
            </details>
          )}
          <p class="line">
            {choice('status', t.everyState, t.states)} {choice('kind', t.everyKind, t.kinds)}
          </p>
          {data.entries.length === 0 && <p>{t.none}</p>}
          {data.entries.length > 0 && (
            <Table heads={[t.event, t.destination, texts.value.state, texts.value.when]}>
              {data.entries.map((one) => (
                <tr key={one.delivery_id}>
                  <th scope="row">
                    <Link
                      to={{ screen: 'deliveries', id: one.delivery_id, filters }}
                      aria-current={one.delivery_id === id ? 'true' : undefined}
                    >
                      {one.event_type}
                    </Link>
                  </th>
                  <td>
                    {t.kinds[one.kind]} <small>{one.destination}</small>
                  </td>
                  <td>
                    <span class={one.status === 'failed' ? 'error' : ''}>{t.states[one.status]}</span>{' '}
                    <small>{one.error}</small>
                  </td>
                  <td>{moment(one.created_at, new Date(), locale.value)}</td>
                </tr>
              ))}
            </Table>
          )}
          {more}
        </>
      )}
    </main>
  );
}
