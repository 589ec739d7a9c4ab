/** What was sent to other services: destinations, deliveries, and the attempts of the open delivery. */
import { useSignal } from '@preact/signals';
import { call } from '../../api/call.ts';
import { listDeliveries, recoverDeliveries, sendTestEvent, type Delivery } from '../../api/operations.ts';
import { DeliveryShown } from './delivery.tsx';
import { useEvery, useLoaded } from '../frame/loaded.ts';
import { Form } from '../frame/form.tsx';
import { More, pageSize, readPages } from '../frame/more.tsx';
import { Field, textOf } from '../../parts/field.tsx';
import { Link } from '../../parts/link.tsx';
import { moment } from '../../rules/times.ts';
import { address, follow, go } from '../../state/route.ts';
import { here, isAdmin } from '../../state/session.ts';
import { attempt, toast } from '../../state/toast.ts';
import { locale, texts } from '../../texts/texts.ts';

export default function Deliveries() {
  const t = texts.value.deliveries;
  const { id, filters } = address.value;
  const { status = '', kind = '' } = filters;
  const pages = useSignal(1);
  const { data, error, again } = useLoaded(() => {
    const { params, query } = here();
    const filter = {
      status: (status || undefined) as 'failed' | undefined,
      kind: (kind || undefined) as 'slack' | undefined,
    };
    return readPages(pages.value, async (cursor) => {
      const page = await call(listDeliveries, { params, query: { ...query, ...filter, limit: pageSize, cursor } });
      return { ...page, entries: page.deliveries };
    });
  }, [status, kind]);
  useEvery(3_000, data?.entries.some((one) => one.status === 'pending') ?? false, again);
  const choice = (name: 'status' | 'kind', every: string, names: Record<string, string>) => (
    <select
      aria-label={name === 'status' ? t.state : t.destination}
      value={filters[name] ?? ''}
      onChange={({ currentTarget }) =>
        go({ screen: 'deliveries', filters: { ...filters, [name]: currentTarget.value } })
      }
    >
      <option value="">{every}</option>
      {Object.entries(names).map(([one, words]) => (
        <option key={one} value={one}>
          {words}
        </option>
      ))}
    </select>
  );
  const test = async () => {
    await attempt(() => call(sendTestEvent, { ...here(), body: {} }), t.testSent);
    await again();
  };
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
              <Form
                send={recover}
                action={t.recover}
                beside={
                  <button type="button" onClick={() => void test()}>
                    {t.test}
                  </button>
                }
              >
                {(wrong) => (
                  <Field label={t.recoverSince} error={wrong('since')}>
                    <input name="since" type="datetime-local" required />
                  </Field>
                )}
              </Form>
            </details>
          )}
          <p class="line">
            {choice('status', t.everyState, t.states)} {choice('kind', t.everyKind, t.kinds)}
          </p>
          {data.entries.length === 0 && <p>{t.none}</p>}
          {data.entries.length > 0 && <Table deliveries={data.entries} />}
          <More cursor={data.cursor} pages={pages} again={again} />
        </>
      )}
    </main>
  );
}

function Table({ deliveries }: { deliveries: readonly Delivery[] }) {
  const t = texts.value.deliveries;
  const { id, filters } = address.value;
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th scope="col">{t.event}</th>
            <th scope="col">{t.destination}</th>
            <th scope="col">{t.state}</th>
            <th scope="col">{t.when}</th>
          </tr>
        </thead>
        <tbody>
          {deliveries.map((one) => (
            <tr key={one.delivery_id}>
              <th scope="row">
                <Link
                  to={{ screen: 'deliveries', id: one.delivery_id, filters }}
                  follow={follow}
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
        </tbody>
      </table>
    </div>
  );
}
