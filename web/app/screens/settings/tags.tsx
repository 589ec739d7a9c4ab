/** The tags that the team uses, each with a colour. */
import { Form } from '../frame/form.tsx';
import { Field, textOf } from '../../parts/field.tsx';
import { isAdmin } from '../../state/session.ts';
import { changeTags, teamTags, type TeamTag } from '../../state/tags.ts';
import { attempt } from '../../state/toast.ts';
import { texts } from '../../texts/texts.ts';

export function TeamTags() {
  const t = texts.value.settings;
  const without = (tags: readonly TeamTag[], name: string) => tags.filter((tag) => tag.name !== name);
  const add = async (form: HTMLFormElement) => {
    const name = textOf(form, 'name').trim();
    const colour = textOf(form, 'colour') as TeamTag['colour'];
    await changeTags((tags) => [...without(tags, name), { name, colour }]);
    form.reset();
  };
  return (
    <>
      {teamTags.value.length === 0 && <p>{t.noTags}</p>}
      <ul class="stack">
        {teamTags.value.map(({ name, colour }) => (
          <li key={name} class="line">
            <span class={`tag ${colour}`}>{name}</span>
            {isAdmin.value && (
              <button type="button" onClick={() => void attempt(() => changeTags((tags) => without(tags, name)))}>
                {texts.value.remove}
                <span class="hidden"> {name}</span>
              </button>
            )}
          </li>
        ))}
      </ul>
      {isAdmin.value && (
        <Form send={add} action={texts.value.addTag} done={texts.value.saved}>
          {(wrong) => (
            <>
              <Field label={t.name} error={wrong('tags')}>
                <input name="name" type="text" required maxLength={50} />
              </Field>
              <Field label={t.colour}>
                <select name="colour">
                  {Object.entries(t.colours).map(([colour, words]) => (
                    <option key={colour} value={colour}>
                      {words}
                    </option>
                  ))}
                </select>
              </Field>
            </>
          )}
        </Form>
      )}
    </>
  );
}
