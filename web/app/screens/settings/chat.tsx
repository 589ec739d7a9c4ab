/** The chat on the organization's own pages: its script tag, its key, and the origins of pages that may embed it. */
import { useSignal } from '@preact/signals';
import { call } from '../../api/call.ts';
import { getSupportConfig, updateSupportConfig } from '../../../../api/integrations/contract/supportconfig.ts';
import { listPublishableKeys, rotatePublishableKey } from '../../../../api/access/contract/keys.ts';
import { Confirm } from '../frame/confirm.tsx';
import { Form } from '../frame/form.tsx';
import { useLoaded } from '../frame/loaded.ts';
import { Secret } from '../frame/secret.tsx';
import { Act } from '../../parts/act.tsx';
import { fieldsOf, Text, textOf, Tick } from '../../parts/field.tsx';
import { here, isAdmin, mode, orgId } from '../../state/session.ts';
import { texts } from '../../texts/texts.ts';

const scriptTag = (key: string): string =>
  `<script src="${location.origin}/widget.js" data-key="${key}" async></script>`;

export function Chat() {
  const t = texts.value.settings;
  const params = { orgId: orgId.value };
  const { data, error, again, act } = useLoaded(async () => {
    const [keys, config] = await Promise.all([call(listPublishableKeys, { params }), call(getSupportConfig, here())]);
    return { key: keys[mode.value].key, config };
  });
  const rotating = useSignal(false);
  if (!data) return <p class={error && 'error'}>{error || texts.value.loading}</p>;
  const { key, config } = data;
  const of = fieldsOf(t, { allowed_origins: config.allowed_origins.join('\n') });
  const send = async (form: HTMLFormElement) => {
    const allowed_origins = textOf(form, 'allowed_origins').split(/\s+/).filter(Boolean);
    const body = { allowed_origins, kb_segment_strict: textOf(form, 'kb_segment_strict') === 'on' };
    await call(updateSupportConfig, { ...here(), body });
    await again();
  };
  return (
    <>
      <p>{t.embed}</p>
      <Secret text={scriptTag(key)} label={t.embed} />
      <p>
        <a href={`/demo?key=${key}`} target="_blank" rel="noopener noreferrer">
          {t.tryIt}
        </a>
      </p>
      <h2>
        {t.publishable} ({texts.value[mode.value]})
      </h2>
      <Secret text={key} label={t.publishable} />
      {isAdmin.value && (
        <>
          <p>
            <Act name={t.newKey} kind="danger" act={() => (rotating.value = true)} />
          </p>
          <Form send={send} action={texts.value.save} done={texts.value.saved}>
            <Text {...of('allowed_origins')} rows={4} />
            <Tick name="kb_segment_strict" label={t.strict} checked={config.kb_segment_strict} />
          </Form>
        </>
      )}
      {rotating.value && (
        <Confirm
          title={t.newKeyAsk}
          action={t.newKey}
          act={() => act(() => call(rotatePublishableKey, { params: { ...params, mode: mode.value } }))}
          closed={() => (rotating.value = false)}
        />
      )}
    </>
  );
}
