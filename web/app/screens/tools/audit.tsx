/**
 * The audit log of tools: what was configured, discovered, approved and called. Its entries form a chain that can be
 * verified.
 */
import { useSignal } from '@preact/signals';
import { call } from '../../api/call.ts';
import { listToolAudit, verifyToolAudit } from '../../api/operations.ts';
import { useLoaded } from '../frame/loaded.ts';
import { More, pageSize, readPages } from '../frame/more.tsx';
import { moment } from '../../rules/times.ts';
import { nameOf } from '../../state/people.ts';
import { address, go } from '../../state/route.ts';
import { here } from '../../state/session.ts';
import { attempt } from '../../state/toast.ts';
import { locale, texts } from '../../texts/texts.ts';

export function Audit() {
  const t = texts.value.tools;
  const outcome = address.value.filters['outcome'] ?? '';
  const pages = useSignal(1);
  const checked = useSignal('');
  const { data, error, again } = useLoaded(() => {
    const { params, query } = here();
    const filter = outcome ? { outcome: outcome as 'ok' } : {};
    return readPages(pages.value, async (cursor) => {
      const page = await call(listToolAudit, { params, query: { ...query, ...filter, limit: pageSize, cursor } });
      return { entries: page.events, cursor: page.next_cursor };
    });
  }, [outcome]);
  const verify = () =>
    attempt(async () => {
      const { intact, checked: count, first_broken } = await call(verifyToolAudit, here());
      checked.value = intact
        ? t.intact(count)
        : t.broken(first_broken?.seq ?? 0, t.breaks[first_broken?.reason ?? ''] ?? '');
    });
  return (
    <>
      <p class="line">
        <select
          aria-label={t.outcome}
          value={outcome}
          onChange={({ currentTarget }) =>
            go({ screen: 'tools', id: 'audit', filters: { outcome: currentTarget.value } })
          }
        >
          <option value="">{t.everyOutcome}</option>
          {Object.entries(t.outcomes).map(([id, name]) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
        <button type="button" onClick={() => void verify()}>
          {t.verify}
        </button>
        <span role="status">{checked.value}</span>
      </p>
      {!data && <p class={error && 'error'}>{error || texts.value.loading}</p>}
      {data?.entries.length === 0 && <p>{t.noEvents}</p>}
      {data && data.entries.length > 0 && (
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th scope="col">{t.when}</th>
                <th scope="col">{t.who}</th>
                <th scope="col">{t.what}</th>
                <th scope="col">{t.tool}</th>
                <th scope="col">{t.outcome}</th>
              </tr>
            </thead>
            <tbody>
              {data.entries.map(({ id, ts, actor, action, tool, outcome: ended }) => (
                <tr key={id}>
                  <td>{moment(ts, new Date(), locale.value)}</td>
                  <td>{nameOf(actor) || actor}</td>
                  <td>{action}</td>
                  <td>{tool}</td>
                  <td>{ended && t.outcomes[ended]}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <More cursor={data?.cursor} pages={pages} again={again} />
    </>
  );
}
