/** The other services that the organization connects: which work, and which are broken and why. */
import { useSignal } from '@preact/signals';
import { call, type ReplyOf } from '../../api/call.ts';
import {
  connectEmail,
  connectGithub,
  connectLinear,
  connectSlack,
  connectTeams,
  disconnectIntegration,
  listIntegrations,
  testIntegration,
  type Integration,
} from '../../../../api/integrations/contract/integrations.ts';
import { Confirm } from '../frame/confirm.tsx';
import { Form } from '../frame/form.tsx';
import { useLoaded } from '../frame/loaded.ts';
import { Act } from '../../parts/act.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Text, textOf } from '../../parts/field.tsx';
import { isAdmin, orgId } from '../../state/session.ts';
import { attempt, toast } from '../../state/toast.ts';
import { texts } from '../../texts/texts.ts';

type Provider = Integration['provider'];
type Connected = Partial<ReplyOf<typeof connectSlack> & ReplyOf<typeof connectTeams>>;
type Connect =
  typeof connectSlack | typeof connectLinear | typeof connectGithub | typeof connectEmail | typeof connectTeams;

/** The fields that are needed to connect a service. The names of optional fields end in `?`. */
const connects: Record<Provider, readonly [does: Connect, fields: readonly string[]]> = {
  slack: [connectSlack, ['channel_id?']],
  linear: [connectLinear, ['api_key', 'team_id', 'webhook_secret?']],
  github: [connectGithub, ['token', 'repository', 'webhook_secret?']],
  email: [connectEmail, ['smtp_url', 'from']],
  teams: [connectTeams, []],
};

export function Integrations() {
  const t = texts.value.settings;
  const params = { orgId: orgId.value };
  const { data, error, again, act } = useLoaded(() => call(listIntegrations, { params }));
  const connecting = useSignal<Provider | undefined>(undefined);
  const leaving = useSignal<Provider | undefined>(undefined);
  const test = (provider: Provider) =>
    attempt(async () => toast((await call(testIntegration, { params: { ...params, provider } })).message));
  if (!data) return <p class={error && 'error'}>{error || texts.value.loading}</p>;
  return (
    <>
      {!isAdmin.value && <p>{t.onlyAdmins}</p>}
      <ul class="cards">
        {data.integrations.map(({ provider, status, account, broken_reason }) => (
          <li key={provider}>
            <h2>
              {t.providers[provider]}{' '}
              <span class={status === 'broken' ? 'mark error' : 'mark'}>{t.statuses[status]}</span>
            </h2>
            {account && <p>{account}</p>}
            {broken_reason && <p class="error">{broken_reason}</p>}
            {isAdmin.value && (
              <p class="line">
                <Act name={t.connect} of={t.providers[provider]} act={() => (connecting.value = provider)} />
                {status !== 'disconnected' && (
                  <>
                    <Act name={t.test} of={t.providers[provider]} act={() => test(provider)} />
                    <Act
                      name={t.disconnect}
                      of={t.providers[provider]}
                      kind="danger"
                      act={() => (leaving.value = provider)}
                    />
                  </>
                )}
              </p>
            )}
          </li>
        ))}
      </ul>
      {connecting.value && (
        <ConnectTo
          provider={connecting.value}
          closed={() => {
            connecting.value = undefined;
            void again();
          }}
        />
      )}
      {leaving.value && (
        <Confirm
          title={t.disconnectAsk(t.providers[leaving.value]!)}
          action={t.disconnect}
          act={() =>
            act(
              () => call(disconnectIntegration, { params: { ...params, provider: leaving.value! } }),
              texts.value.saved,
            )
          }
          closed={() => (leaving.value = undefined)}
        />
      )}
    </>
  );
}

function ConnectTo({ provider, closed }: { provider: Provider; closed: () => void }) {
  const t = texts.value.settings;
  const [does, fields] = connects[provider];
  const next = useSignal<Connected | undefined>(undefined);
  const named = fields.map((field) => ({ name: field.replace('?', ''), required: !field.endsWith('?') }));
  const send = async (form: HTMLFormElement) => {
    const given = named.map(({ name }) => [name, textOf(form, name)] as const).filter(([, text]) => text !== '');
    const body = (fields.length > 0 ? Object.fromEntries(given) : undefined) as never;
    const made: Connected = await call(does, { params: { orgId: orgId.value }, body });
    if (made.authorization_url || made.connect_code) next.value = made;
    else closed();
  };
  return (
    <Dialog title={`${t.connect}: ${t.providers[provider]}`} closed={closed}>
      <Form send={send} action={t.connect} beside={<Act name={texts.value.close} act={closed} />}>
        {named.map(({ name, required }) => {
          const isSecret = /key|secret|token|smtp/.test(name);
          return (
            <Text
              key={name}
              name={name}
              label={t.fields[name]!}
              type={isSecret ? 'password' : 'text'}
              autocomplete={isSecret ? 'off' : undefined}
              required={required}
            />
          );
        })}
      </Form>
      {next.value?.connect_code && <p role="status">{t.teamsCode(next.value.connect_code)}</p>}
      {next.value?.authorization_url && (
        <p>
          <a class="button" href={next.value.authorization_url} target="_blank" rel="noopener noreferrer">
            {t.goOn}
          </a>
        </p>
      )}
    </Dialog>
  );
}
