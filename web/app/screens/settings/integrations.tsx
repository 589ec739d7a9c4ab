/** The other services that the organization connects: which work, and which are broken and why. */
import { useSignal } from '@preact/signals';
import { call, type Operation } from '../../api/call.ts';
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
} from '../../api/operations.ts';
import { Form } from '../frame/form.tsx';
import { useLoaded } from '../frame/loaded.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, textOf } from '../../parts/field.tsx';
import { isAdmin, orgId } from '../../state/session.ts';
import { attempt, toast } from '../../state/toast.ts';
import { texts } from '../../texts/texts.ts';

type Provider = Integration['provider'];
type Connected = { integration: Integration; authorization_url?: string; connect_code?: string };
type Connect = (orgId: string, given: never) => Promise<Connected>;
const by =
  <B,>(operation: Operation<{ orgId: string }, object, B, Connected>) =>
  (orgId: string, body: B): Promise<Connected> =>
    call(operation, { params: { orgId }, body });

/** The fields that are needed to connect a service. The names of optional fields end in `?`. */
const connects: Record<Provider, readonly [connect: Connect, fields: readonly string[]]> = {
  slack: [by(connectSlack), ['channel_id?']],
  linear: [by(connectLinear), ['api_key', 'team_id', 'webhook_secret?']],
  github: [by(connectGithub), ['token', 'repository', 'webhook_secret?']],
  email: [by(connectEmail), ['smtp_url', 'from']],
  teams: [by(connectTeams), []],
};

export function Integrations() {
  const t = texts.value.settings;
  const params = { orgId: orgId.value };
  const { data, error, again } = useLoaded(() => call(listIntegrations, { params }));
  const connecting = useSignal<Provider | undefined>(undefined);
  const leaving = useSignal<Provider | undefined>(undefined);
  const test = (provider: Provider) =>
    attempt(async () => toast((await call(testIntegration, { params: { ...params, provider } })).message));
  const disconnect = async (provider: Provider) => {
    await attempt(() => call(disconnectIntegration, { params: { ...params, provider } }), texts.value.saved);
    await again();
  };
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
                <button type="button" onClick={() => (connecting.value = provider)}>
                  {t.connect}
                  <span class="hidden"> {t.providers[provider]}</span>
                </button>
                {status !== 'disconnected' && (
                  <>
                    <button type="button" onClick={() => void test(provider)}>
                      {t.test}
                      <span class="hidden"> {t.providers[provider]}</span>
                    </button>
                    <button type="button" class="danger" onClick={() => (leaving.value = provider)}>
                      {t.disconnect}
                      <span class="hidden"> {t.providers[provider]}</span>
                    </button>
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
          cancel={texts.value.cancel}
          act={() => void disconnect(leaving.value!)}
          closed={() => (leaving.value = undefined)}
        />
      )}
    </>
  );
}

function ConnectTo({ provider, closed }: { provider: Provider; closed: () => void }) {
  const t = texts.value.settings;
  const [connect, fields] = connects[provider];
  const next = useSignal<Connected | undefined>(undefined);
  const named = fields.map((field) => ({ name: field.replace('?', ''), required: !field.endsWith('?') }));
  const send = async (form: HTMLFormElement) => {
    const given = named.map(({ name }) => [name, textOf(form, name)] as const).filter(([, text]) => text !== '');
    const body = (fields.length > 0 ? Object.fromEntries(given) : undefined) as never;
    const made = await connect(orgId.value, body);
    if (made.authorization_url || made.connect_code) next.value = made;
    else closed();
  };
  return (
    <Dialog title={`${t.connect}: ${t.providers[provider]}`} closed={closed}>
      <Form
        send={send}
        action={t.connect}
        beside={
          <button type="button" onClick={closed}>
            {texts.value.close}
          </button>
        }
      >
        {(wrong) =>
          named.map(({ name, required }) => (
            <Field key={name} label={t.fields[name]!} error={wrong(name)}>
              {/key|secret|token|smtp/.test(name) ? (
                <input name={name} type="password" autocomplete="off" required={required} />
              ) : (
                <input name={name} type="text" required={required} />
              )}
            </Field>
          ))
        }
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
