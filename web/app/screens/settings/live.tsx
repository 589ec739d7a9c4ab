/** Going live: what is in live mode, what would be copied from test mode, and the button. */
import { useSignal } from '@preact/signals';
import { call } from '../../api/call.ts';
import { goLive, seeGoLive } from '../../../../api/chat/contract/golive.ts';
import { Confirm } from '../frame/confirm.tsx';
import { useEvery, useLoaded } from '../frame/loaded.ts';
import { Act } from '../../parts/act.tsx';
import { Tick } from '../../parts/field.tsx';
import { isAdmin, orgId } from '../../state/session.ts';
import { attempt } from '../../state/toast.ts';
import { texts } from '../../texts/texts.ts';

export function GoingLive() {
  const t = texts.value.settings;
  const params = { orgId: orgId.value };
  const { data, error, again, put } = useLoaded(() => call(seeGoLive, { params }));
  const asked = useSignal(false);
  const copies = useSignal(true);
  useEvery(2_000, data?.copy?.status === 'running', again);
  if (!data) return <p class={error && 'error'}>{error || texts.value.loading}</p>;
  const { environment, live, test, copy } = data;
  return (
    <>
      <p>{environment === 'production' ? t.isLive : t.isTest}</p>
      <dl>
        <dt>{texts.value.live}</dt>
        <dd>{t.has(live.documents, live.pages)}</dd>
        <dt>{texts.value.test}</dt>
        <dd>{t.has(test.documents, test.pages)}</dd>
      </dl>
      {copy?.status === 'running' && <p role="status">{t.copying}</p>}
      {copy?.status === 'finished' && <p role="status">{t.copied(copy.documents ?? 0, copy.pages ?? 0)}</p>}
      {copy && copy.left_out.length > 0 && (
        <>
          <h2>{t.leftOut}</h2>
          <ul>
            {copy.left_out.map(({ id, reason }) => (
              <li key={id}>
                {id}: {reason}
              </li>
            ))}
          </ul>
        </>
      )}
      {isAdmin.value && environment === 'sandbox' && (
        <p class="line">
          <Tick label={t.copy} checked={copies.value} change={(on) => (copies.value = on)} />
          <Act name={t.goLive} kind="main" act={() => (asked.value = true)} />
        </p>
      )}
      {asked.value && (
        <Confirm
          title={t.goLiveAsk}
          action={t.goLive}
          act={() => attempt(async () => put(await call(goLive, { params, body: { copy_from_test: copies.value } })))}
          closed={() => (asked.value = false)}
        />
      )}
    </>
  );
}
