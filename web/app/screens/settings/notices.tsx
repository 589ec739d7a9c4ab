/** How a member wants to be notified, and whether they are notified before or after other members. */
import { useSignal } from '@preact/signals';
import { call } from '../../api/call.ts';
import { getNotices, setAvailability, setNotices } from '../../../../api/access/contract/notifications.ts';
import { Form } from '../frame/form.tsx';
import { useLoaded } from '../frame/loaded.ts';
import { Act } from '../../parts/act.tsx';
import { fieldsOf, Text, textOf, Tick } from '../../parts/field.tsx';
import { singleKeys, switchSingleKeys } from '../../parts/keys.ts';
import { orgId } from '../../state/session.ts';
import { attempt } from '../../state/toast.ts';
import { texts } from '../../texts/texts.ts';

export function Notices() {
  const t = texts.value.settings;
  const { data, error, put } = useLoaded(() => call(getNotices));
  const blocked = useSignal(false);
  if (!data) return <p class={error && 'error'}>{error || texts.value.loading}</p>;
  const send = async (form: HTMLFormElement) => {
    const isOn = (name: string) => textOf(form, name) === 'on';
    // The browser asks for this permission once, and only after a click.
    if (isOn('browser') && 'Notification' in window)
      blocked.value = (await Notification.requestPermission()) === 'denied';
    const quiet = { from: textOf(form, 'from'), until: textOf(form, 'until'), timezone: textOf(form, 'timezone') };
    const body = {
      browser: isOn('browser'),
      sound: isOn('sound'),
      mail: isOn('mail'),
      mail_after_minutes: Number(textOf(form, 'mail_after_minutes')),
      quiet_hours: isOn('quiet') ? quiet : null,
    };
    put(await call(setNotices, { body }));
  };
  const available = (state: 'here' | 'away') =>
    attempt(() => call(setAvailability, { body: { org_id: orgId.value, state } }), texts.value.saved);
  const { quiet_hours: quiet } = data;
  const { timeZone: timezone } = new Intl.DateTimeFormat().resolvedOptions();
  const of = fieldsOf(t, { ...data, ...(quiet ?? { from: '22:00', until: '07:00', timezone }) });
  return (
    <>
      <Form send={send} action={texts.value.save} done={texts.value.saved}>
        <Tick name="browser" label={t.browser} checked={data.browser} />
        {blocked.value && <p class="error">{t.browserBlocked}</p>}
        <Tick name="sound" label={t.sound} checked={data.sound} />
        <Tick name="mail" label={t.mail} checked={data.mail} />
        <Text {...of('mail_after_minutes')} type="number" min={0} required />
        <fieldset class="line">
          <legend>
            <Tick name="quiet" label={t.quiet} checked={quiet !== null} />
          </legend>
          <Text {...of('from')} type="time" />
          <Text {...of('until')} type="time" />
          <Text {...of('timezone')} of="quiet_hours" />
        </fieldset>
      </Form>
      <section aria-label={t.availability}>
        <h2>{t.availability}</h2>
        <p class="line">
          <Act name={t.here} act={() => available('here')} />
          <Act name={t.away} act={() => available('away')} />
        </p>
      </section>
      <Tick
        label={`${texts.value.keys}: ${texts.value.singleKeys}`}
        checked={singleKeys.value}
        change={switchSingleKeys}
      />
    </>
  );
}
