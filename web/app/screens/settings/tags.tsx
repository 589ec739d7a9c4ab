/** The tags that the team uses, each with a colour. */
import { Form } from '../frame/form.tsx';
import { Act } from '../../parts/act.tsx';
import { Select, Text, textOf } from '../../parts/field.tsx';
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
              <Act
                name={texts.value.remove}
                of={name}
                act={() => attempt(() => changeTags((tags) => without(tags, name)))}
              />
            )}
          </li>
        ))}
      </ul>
      {isAdmin.value && (
        <Form send={add} action={texts.value.addTag} done={texts.value.saved}>
          <Text name="name" of="tags" label={texts.value.name} required maxLength={50} />
          <Select name="colour" label={t.colour} names={t.colours} />
        </Form>
      )}
    </>
  );
}
