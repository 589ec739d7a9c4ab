/**
 * The audit log of tools: what was configured, discovered, approved and called. Its entries form a chain that can be
 * verified.
 */
import { useSignal } from '@preact/signals';
import { call } from '../../api/call.ts';
import { listToolAudit, verifyToolAudit } from '../../../../api/mcp/contract/mcp.ts';
import { usePages } from '../frame/more.tsx';
import { Act } from '../../parts/act.tsx';
import { Options } from '../../parts/field.tsx';
import { Table } from '../../parts/table.tsx';
import { moment } from '../../rules/times.ts';
import { nameOf } from '../../state/people.ts';
import { address, go } from '../../state/route.ts';
import { here } from '../../state/session.ts';
import { attempt } from '../../state/toast.ts';
import { locale, texts } from '../../texts/texts.ts';

export function Audit() {
  const t = texts.value.tools;
  const outcome = address.value.filters['outcome'] ?? '';
  const checked = useSignal('');
  const { data, error, more } = usePages(listToolAudit, 'events', { outcome: outcome as 'ok' });
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
          <Options names={{ '': t.everyOutcome, ...t.outcomes }} />
        </select>
        <Act name={t.verify} act={verify} />
        <span role="status">{checked.value}</span>
      </p>
      {!data && <p class={error && 'error'}>{error || texts.value.loading}</p>}
      {data?.entries.length === 0 && <p>{t.noEvents}</p>}
      {data && data.entries.length > 0 && (
        <Table heads={[texts.value.when, t.who, t.what, t.tool, t.outcome]}>
          {data.entries.map(({ id, ts, actor, action, tool, outcome: ended }) => (
            <tr key={id}>
              <td>{moment(ts, new Date(), locale.value)}</td>
              <td>{nameOf(actor) || actor}</td>
              <td>{action}</td>
              <td>{tool}</td>
              <td>{ended && t.outcomes[ended]}</td>
            </tr>
          ))}
        </Table>
      )}
      {more}
    </>
  );
}
