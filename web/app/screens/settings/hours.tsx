/** The hours in which the team answers, and what customers are told outside them. */
import { call } from '../../api/call.ts';
import { getHours, setHours } from '../../../../api/access/contract/hours.ts';
import { Form } from '../frame/form.tsx';
import { useLoaded } from '../frame/loaded.ts';
import { Act } from '../../parts/act.tsx';
import { fieldsOf, Text, textOf } from '../../parts/field.tsx';
import { dayName, readSpans, weekdays, writtenSpans } from '../../rules/hours.ts';
import { moment } from '../../rules/times.ts';
import { isAdmin, orgId } from '../../state/session.ts';
import { attempt } from '../../state/toast.ts';
import { locale, texts } from '../../texts/texts.ts';

export function TeamHours() {
  const t = texts.value.settings;
  const params = { orgId: orgId.value };
  const { data, error, put } = useLoaded(() => call(getHours, { params }));
  if (!data) return <p class={error && 'error'}>{error || texts.value.loading}</p>;
  const { hours, open, next_opening } = data;
  const { timeZone: timezone } = new Intl.DateTimeFormat().resolvedOptions();
  const of = fieldsOf(t, { timezone, ...hours, closed: hours?.closed.join('\n') });
  const send = async (form: HTMLFormElement) => {
    const week = Object.fromEntries(
      weekdays.flatMap((day) => {
        const spans = readSpans(textOf(form, day));
        return spans.length > 0 ? [[day, spans]] : [];
      }),
    );
    const closed = textOf(form, 'closed')
      .split(/[\s,]+/)
      .filter(Boolean);
    const away_message = textOf(form, 'away_message').trim() || null;
    const body = { hours: { timezone: textOf(form, 'timezone'), week, closed, away_message } };
    put(await call(setHours, { params, body }));
  };
  const always = () =>
    attempt(async () => put(await call(setHours, { params, body: { hours: null } })), texts.value.saved);
  return (
    <>
      <p role="status">
        {open ? t.openNow : t.closedNow} {next_opening && t.opensAt(moment(next_opening, new Date(), locale.value))}
      </p>
      {isAdmin.value && (
        <Form
          key={JSON.stringify(hours)}
          send={send}
          action={texts.value.save}
          done={texts.value.saved}
          beside={<Act name={t.alwaysOpen} act={always} />}
        >
          <p>{t.hoursHint}</p>
          {weekdays.map((day) => (
            <Text
              key={day}
              name={day}
              label={dayName(day, locale.value)}
              defaultValue={writtenSpans(hours?.week[day])}
            />
          ))}
          <Text {...of('timezone')} of="hours" required />
          <Text {...of('closed')} rows={2} />
          <Text {...of('away_message')} rows={3} maxLength={500} />
        </Form>
      )}
    </>
  );
}
