/** The secret API keys that the organization's backends use. */
import { useSignal } from '@preact/signals';
import { call } from '../../api/call.ts';
import { createKey, listKeys, revokeKey, rotateKey, type Key } from '../../../../api/access/contract/keys.ts';
import { Confirm } from '../frame/confirm.tsx';
import { Form } from '../frame/form.tsx';
import { useLoaded } from '../frame/loaded.ts';
import { readPages } from '../frame/more.tsx';
import { Secret } from '../frame/secret.tsx';
import { Act } from '../../parts/act.tsx';
import { Select, Text, textOf, Tick } from '../../parts/field.tsx';
import { Table } from '../../parts/table.tsx';
import { moment } from '../../rules/times.ts';
import { isAdmin, orgId } from '../../state/session.ts';
import { locale, texts } from '../../texts/texts.ts';

const scopes: readonly Key['scopes'][number][] = [
  'support:read',
  'support:write',
  'sessions:mint',
  'mcp:read',
  'mcp:write',
];

export function Keys() {
  const t = texts.value.settings;
  const params = { orgId: orgId.value };
  // All pages are read, because an active key may come after any number of revoked keys, and must be revocable here.
  const { data, error, again, act } = useLoaded(() =>
    readPages(Infinity, listKeys, 'keys', { params, query: { limit: 100 } }),
  );
  const token = useSignal('');
  const revoking = useSignal<Key | undefined>(undefined);
  const create = async (form: HTMLFormElement) => {
    const body = {
      name: textOf(form, 'name'),
      mode: textOf(form, 'mode') as 'test',
      scopes: scopes.filter((scope) => textOf(form, scope) === 'on'),
    };
    token.value = (await call(createKey, { params, body })).token;
    form.reset();
    await again();
  };
  const of = ({ key_id }: Key) => ({ params: { ...params, keyId: key_id } });
  const rotate = async (key: Key) => {
    token.value = (await call(rotateKey, { ...of(key), body: {} })).token;
  };
  if (!data) return <p class={error && 'error'}>{error || texts.value.loading}</p>;
  const time = (iso: string | null) => (iso ? moment(iso, new Date(), locale.value) : t.never);
  return (
    <>
      {data.entries.length === 0 && <p>{t.noKeys}</p>}
      {token.value && (
        <section role="status">
          <p>{t.shownOnce}</p>
          <Secret text={token.value} label={t.newKey} />
        </section>
      )}
      {data.entries.length > 0 && (
        <Table heads={[texts.value.name, t.scopes, t.keyMode, t.lastUsed]} acts={t.revoke}>
          {data.entries
            .filter(({ status }) => status === 'active')
            .map((key) => (
              <tr key={key.key_id}>
                <th scope="row">
                  {key.name} <small>{key.token_prefix}…</small>
                </th>
                <td>{key.scopes.join(', ')}</td>
                <td>{texts.value[key.environment]}</td>
                <td>{time(key.last_used_at)}</td>
                <td class="line">
                  {isAdmin.value && (
                    <>
                      <Act name={t.newKey} of={key.name} act={() => act(() => rotate(key))} />
                      <Act name={t.revoke} of={key.name} kind="danger" act={() => (revoking.value = key)} />
                    </>
                  )}
                </td>
              </tr>
            ))}
        </Table>
      )}
      {isAdmin.value && (
        <>
          <h2>{t.newKey}</h2>
          <Form send={create} action={t.newKey}>
            <Text name="name" label={texts.value.name} required />
            <Select name="mode" label={t.keyMode} names={{ test: texts.value.test, live: texts.value.live }} />
            <fieldset class="line">
              <legend>{t.scopes}</legend>
              {scopes.map((scope) => (
                <Tick key={scope} name={scope} label={scope} checked={scope === 'support:read'} />
              ))}
            </fieldset>
          </Form>
        </>
      )}
      {revoking.value && (
        <Confirm
          title={t.revokeAsk(revoking.value.name)}
          action={t.revoke}
          act={() => act(() => call(revokeKey, of(revoking.value!)))}
          closed={() => (revoking.value = undefined)}
        />
      )}
    </>
  );
}
