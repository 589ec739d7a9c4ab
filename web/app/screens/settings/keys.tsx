/** The secret API keys that the organization's backends use. */
import { useSignal } from '@preact/signals';
import { call } from '../../api/call.ts';
import { createKey, listKeys, revokeKey, rotateKey, type Key } from '../../api/operations.ts';
import { Form } from '../frame/form.tsx';
import { useLoaded } from '../frame/loaded.ts';
import { readPages } from '../frame/more.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Field, textOf } from '../../parts/field.tsx';
import { Secret } from '../../parts/secret.tsx';
import { moment } from '../../rules/times.ts';
import { isAdmin, orgId } from '../../state/session.ts';
import { attempt, toast } from '../../state/toast.ts';
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
  // All pages are read, because an active key may stand behind any number of revoked ones, and must be revocable here.
  const { data, error, again } = useLoaded(() =>
    readPages(Infinity, async (cursor) => {
      const { keys, cursor: next } = await call(listKeys, { params, query: { limit: 100, cursor } });
      return { entries: keys, cursor: next };
    }),
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
  const act = async (made: () => Promise<unknown>) => {
    await attempt(made);
    await again();
  };
  const of = ({ key_id }: Key) => ({ params: { ...params, keyId: key_id } });
  if (!data) return <p class={error && 'error'}>{error || texts.value.loading}</p>;
  const time = (iso: string | null) => (iso ? moment(iso, new Date(), locale.value) : t.never);
  return (
    <>
      {data.entries.length === 0 && <p>{t.noKeys}</p>}
      {token.value && (
        <section role="status">
          <p>{t.shownOnce}</p>
          <Secret
            text={token.value}
            label={t.newKey}
            copy={texts.value.copy}
            copied={() => toast(texts.value.copied)}
          />
        </section>
      )}
      {data.entries.length > 0 && (
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th scope="col">{t.name}</th>
                <th scope="col">{t.scopes}</th>
                <th scope="col">{t.keyMode}</th>
                <th scope="col">{t.lastUsed}</th>
                <th scope="col">
                  <span class="hidden">{t.revoke}</span>
                </th>
              </tr>
            </thead>
            <tbody>
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
                          <button
                            type="button"
                            onClick={() =>
                              void act(
                                async () => (token.value = (await call(rotateKey, { ...of(key), body: {} })).token),
                              )
                            }
                          >
                            {t.rotate}
                            <span class="hidden"> {key.name}</span>
                          </button>
                          <button type="button" class="danger" onClick={() => (revoking.value = key)}>
                            {t.revoke}
                            <span class="hidden"> {key.name}</span>
                          </button>
                        </>
                      )}
                    </td>
                  </tr>
                ))}
            </tbody>
          </table>
        </div>
      )}
      {isAdmin.value && (
        <>
          <h2>{t.newKey}</h2>
          <Form send={create} action={t.newKey}>
            {(wrong) => (
              <>
                <Field label={t.name} error={wrong('name')}>
                  <input name="name" type="text" required />
                </Field>
                <Field label={t.keyMode} error={wrong('mode')}>
                  <select name="mode">
                    <option value="test">{texts.value.test}</option>
                    <option value="live">{texts.value.live}</option>
                  </select>
                </Field>
                <fieldset class="line">
                  <legend>{t.scopes}</legend>
                  {scopes.map((scope) => (
                    <label key={scope}>
                      <input name={scope} type="checkbox" defaultChecked={scope === 'support:read'} /> {scope}
                    </label>
                  ))}
                </fieldset>
              </>
            )}
          </Form>
        </>
      )}
      {revoking.value && (
        <Confirm
          title={t.revokeAsk(revoking.value.name)}
          action={t.revoke}
          cancel={texts.value.cancel}
          act={() => void act(() => call(revokeKey, of(revoking.value!)))}
          closed={() => (revoking.value = undefined)}
        />
      )}
    </>
  );
}
