/**
 * The tool calls that wait for an approval. Each is a card with the tool, its arguments, and a link to the
 * conversation.
 */
import { useEffect } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { call } from '../../api/call.ts';
import {
  approveToolCall,
  denyToolCall,
  listToolApprovals,
  type ToolApproval,
} from '../../../../api/chat/contract/approvals.ts';
import { Confirm } from '../frame/confirm.tsx';
import { Link } from '../frame/link.tsx';
import { usePages } from '../frame/more.tsx';
import { useKeys } from '../../parts/keys.ts';
import { moment } from '../../rules/times.ts';
import { notices } from '../../state/notices.ts';
import { orgId } from '../../state/session.ts';
import { locale, texts } from '../../texts/texts.ts';

type Asked = { one: ToolApproval; approves: boolean };

export function Approvals() {
  const t = texts.value.tools;
  const { data, error, again, act, more } = usePages(listToolApprovals, 'approvals');
  const asked = useSignal<Asked | undefined>(undefined);
  const newest = notices.value.find(({ kind }) => kind === 'approval_waiting')?.notif_id;
  useEffect(() => void again(), [newest]);
  const first = data?.entries[0];
  const ask = (approves: boolean) => () => (first ? void (asked.value = { one: first, approves }) : false);
  useKeys({ y: ask(true), d: ask(false) });
  const decide = ({ one, approves }: Asked) =>
    act(
      () => call(approves ? approveToolCall : denyToolCall, { params: { orgId: orgId.value, approvalId: one.id } }),
      approves ? t.approved : t.denied,
    );
  if (!data) return <p class={error && 'error'}>{error || texts.value.loading}</p>;
  return (
    <>
      {data.entries.length === 0 && <p>{t.noApprovals}</p>}
      <ul class="cards">
        {data.entries.map((one) => (
          <li key={one.id}>
            <h2>{one.title}</h2>
            <p>{t.tiers[one.risk_tier]}</p>
            <Values values={one.arguments} />
            <p>
              {one.expires_at && `${t.until} ${moment(one.expires_at, new Date(), locale.value)}. `}
              <Link to={{ screen: 'inbox', id: one.conversation_id, filters: { box: 'all' } }}>
                {t.openConversation}
              </Link>
            </p>
            <p class="line">
              <button type="button" class="main" onClick={() => (asked.value = { one, approves: true })}>
                {t.approve} {one === first && <kbd>y</kbd>}
              </button>
              <button type="button" onClick={() => (asked.value = { one, approves: false })}>
                {t.deny} {one === first && <kbd>d</kbd>}
              </button>
            </p>
          </li>
        ))}
      </ul>
      {more}
      {asked.value && (
        <Confirm
          title={asked.value.approves ? t.approveAsk(asked.value.one.title) : t.denyAsk(asked.value.one.title)}
          action={asked.value.approves ? t.approve : t.deny}
          act={() => decide(asked.value!)}
          closed={() => (asked.value = undefined)}
        >
          <Values values={asked.value.one.arguments} />
        </Confirm>
      )}
    </>
  );
}

/** The arguments of the call, their names split into words. */
function Values({ values }: { values: Record<string, unknown> }) {
  const all = Object.entries(values);
  if (all.length === 0) return <p>{texts.value.tools.noArguments}</p>;
  return (
    <dl class="values">
      {all.map(([name, value]) => (
        <div key={name}>
          <dt>{name.replaceAll(/[_-]+/g, ' ').replaceAll(/([a-z])([A-Z])/g, '$1 $2')}</dt>
          <dd>{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
        </div>
      ))}
    </dl>
  );
}
