/** The look and the texts of the chat on the organization's pages, beside a preview of the chat as it was saved. */
import { useSignal } from '@preact/signals';
import { call } from '../../api/call.ts';
import { getWidget, removeWidgetPicture, setWidget, setWidgetPicture } from '../../../../api/chat/contract/widget.ts';
import { listPublishableKeys } from '../../../../api/access/contract/keys.ts';
import { Form } from '../frame/form.tsx';
import { useLoaded } from '../frame/loaded.ts';
import { Act } from '../../parts/act.tsx';
import { Field, fieldsOf, Select, Text, textOf } from '../../parts/field.tsx';
import { isAdmin, mode, orgId } from '../../state/session.ts';
import { attempt } from '../../state/toast.ts';
import { locale, texts } from '../../texts/texts.ts';

/** The languages of the widget. */
const languages = ['en', 'de', 'fr', 'es', 'ar'] as const;
/** The widget's default colour. */
const plainAccent = '#1d57a8';
const pictures = ['logo', 'avatar'] as const;
type Picture = (typeof pictures)[number];

/** The window of the preview. It has `SupportWidget` once the chat in it is loaded. */
type Previewed = Window & { SupportWidget?: { open: () => Promise<void> } };

/** Opens the chat in the preview. The focus stays where it was on this page. */
async function showChat(page: Previewed | null): Promise<void> {
  const focused = document.activeElement;
  await page?.SupportWidget?.open();
  if (focused instanceof HTMLElement) focused.focus();
}

export function WidgetLook() {
  const t = texts.value.settings;
  const params = { orgId: orgId.value };
  /**
   * The language of the greeting and the starters. Only these two fields are created again when it changes, so that the
   * others keep what is typed.
   */
  const language = useSignal<(typeof languages)[number]>(languages.find((one) => locale.value.startsWith(one)) ?? 'en');
  /** The number of changes. A new number makes the browser load the preview again. */
  const version = useSignal(0);
  const { data, error, again } = useLoaded(async () => {
    const [widget, keys] = await Promise.all([call(getWidget, { params }), call(listPublishableKeys, { params })]);
    return { widget, key: keys[mode.value].key };
  });
  if (!data) return <p class={error && 'error'}>{error || texts.value.loading}</p>;
  const { widget, key } = data;
  const changed = async () => {
    // The browser caches the widget's look for a minute, so it is fetched again here.
    await fetch(`/widget/organizations/${key}`, { cache: 'reload' });
    await again();
    version.value += 1;
  };
  const send = async (form: HTMLFormElement) => {
    const accent = textOf(form, 'accent');
    const greeting = textOf(form, 'greeting').trim();
    const starters = textOf(form, 'starters')
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean);
    const { [language.value]: _, ...others } = widget.greetings;
    const said = { ...(greeting && { greeting }), ...(starters.length > 0 && { starters }) };
    const body = {
      accent: accent === plainAccent ? null : accent,
      agent_name: textOf(form, 'agent_name').trim() || null,
      greetings: { ...others, ...(Object.keys(said).length > 0 && { [language.value]: said }) },
      ask_email: textOf(form, 'ask_email') as typeof widget.ask_email,
      outside: textOf(form, 'outside') as typeof widget.outside,
    };
    await call(setWidget, { params, body });
    await changed();
  };
  const put = (picture: Picture, file: File | undefined) =>
    attempt(async () => {
      const at = { params: { ...params, picture } };
      const body = new FormData();
      if (file) body.set('file', file);
      if (file) await call(setWidgetPicture, { ...at, body });
      else await call(removeWidgetPicture, at);
      await changed();
    }, texts.value.saved);
  const said = widget.greetings[language.value];
  const of = fieldsOf(
    { ...t, accent: t.colour },
    { ...widget, ...said, accent: widget.accent ?? plainAccent, starters: said?.starters?.join('\n') },
  );
  const languageNames = new Intl.DisplayNames(locale.value, { type: 'language' });
  return (
    <div class="twin">
      {isAdmin.value ? (
        <div>
          <Form send={send} action={texts.value.save} done={texts.value.saved}>
            <Text {...of('accent')} type="color" />
            <Text {...of('agent_name')} maxLength={60} />
            <Select
              {...of('language')}
              names={Object.fromEntries(languages.map((one) => [one, languageNames.of(one) ?? one]))}
              chosen={language.value}
              change={(one) => (language.value = one as 'en')}
            />
            <Text key={`greeting ${language.value}`} {...of('greeting')} of="greetings" rows={2} maxLength={500} />
            <Text key={`starters ${language.value}`} {...of('starters')} rows={4} />
            <Select {...of('ask_email')} names={t.askEmails} chosen={widget.ask_email} />
            <Select {...of('outside')} names={t.outsides} chosen={widget.outside} />
          </Form>
          {pictures.map((picture) => (
            <p key={picture} class="line">
              <Field label={t.pictures[picture]} hint={t.pictureHint}>
                <input
                  type="file"
                  accept="image/png,image/jpeg,image/webp"
                  onChange={({ currentTarget }) => void put(picture, currentTarget.files?.[0])}
                />
              </Field>
              {widget[`${picture}_url`] && (
                <Act name={texts.value.remove} of={t.pictures[picture]} act={() => put(picture, undefined)} />
              )}
            </p>
          ))}
        </div>
      ) : (
        <p>{t.onlyAdmins}</p>
      )}
      <iframe
        key={version.value}
        title={t.preview}
        onLoad={({ currentTarget }) => void showChat(currentTarget.contentWindow)}
        src={`/demo?key=${key}&locale=${language.value}&version=${version.value}`}
      />
    </div>
  );
}
