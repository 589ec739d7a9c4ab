/** How a member wants to be notified, and whether they are notified before or after other members. */
import { useSignal } from '@preact/signals';
import { call } from '../../api/call.ts';
import { getNotices, setAvailability, setNotices } from '../../api/operations.ts';
import { Form } from '../frame/form.tsx';
import { useLoaded } from '../frame/loaded.ts';
import { Field, textOf } from '../../parts/field.tsx';
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
  return (
    <>
      <Form send={send} action={texts.value.save} done={texts.value.saved}>
        {(wrong) => (
          <>
            <label>
              <input name="browser" type="checkbox" defaultChecked={data.browser} /> {t.browser}
            </label>
            {blocked.value && <p class="error">{t.browserBlocked}</p>}
            <label>
              <input name="sound" type="checkbox" defaultChecked={data.sound} /> {t.sound}
            </label>
            <label>
              <input name="mail" type="checkbox" defaultChecked={data.mail} /> {t.mail}
            </label>
            <Field label={t.mailAfter} error={wrong('mail_after_minutes')}>
              <input
                name="mail_after_minutes"
                type="number"
                min={0}
                required
                defaultValue={String(data.mail_after_minutes)}
              />
            </Field>
            <fieldset class="line">
              <legend>
                <label>
                  <input name="quiet" type="checkbox" defaultChecked={quiet !== null} /> {t.quiet}
                </label>
              </legend>
              <Field label={t.from}>
                <input name="from" type="time" defaultValue={quiet?.from ?? '22:00'} />
              </Field>
              <Field label={t.until}>
                <input name="until" type="time" defaultValue={quiet?.until ?? '07:00'} />
              </Field>
              <Field label={t.timezone} error={wrong('quiet_hours')}>
                <input
                  name="timezone"
                  type="text"
                  defaultValue={quiet?.timezone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone}
                />
              </Field>
            </fieldset>
          </>
        )}
      </Form>
      <section aria-label={t.availability}>
        <h2>{t.availability}</h2>
        <p class="line">
          <button type="button" onClick={() => void available('here')}>
            {t.here}
          </button>
          <button type="button" onClick={() => void available('away')}>
            {t.away}
          </button>
        </p>
      </section>
      <label>
        <input
          type="checkbox"
          checked={singleKeys.value}
          onChange={({ currentTarget }) => switchSingleKeys(currentTarget.checked)}
        />{' '}
        {texts.value.keys}: {texts.value.singleKeys}
      </label>
    </>
  );
}
