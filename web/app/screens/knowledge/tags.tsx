/** Whom a document or page answers, and with which priority. */
import type { Document } from '../../api/operations.ts';
import { Form } from '../frame/form.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, textOf } from '../../parts/field.tsx';
import { texts } from '../../texts/texts.ts';

export type Tagged = Pick<Document, 'segments' | 'authority'>;
type Given = { title: string; tagged: Tagged; save: (tags: Tagged) => Promise<void>; closed: () => void };

export const segmentsOf = (text: string): string[] =>
  text
    .split(',')
    .map((segment) => segment.trim())
    .filter(Boolean);

export function Tags({ title, tagged, save, closed }: Given) {
  const t = texts.value.knowledge;
  const send = async (form: HTMLFormElement) => {
    await save({
      segments: segmentsOf(textOf(form, 'segments')),
      authority: textOf(form, 'authority') as Tagged['authority'],
    });
    closed();
  };
  return (
    <Dialog title={title} closed={closed}>
      <Form
        send={send}
        action={texts.value.save}
        done={texts.value.saved}
        beside={
          <button type="button" onClick={closed}>
            {texts.value.cancel}
          </button>
        }
      >
        {(wrong) => (
          <>
            <Field label={t.segments} hint={t.segmentsHint} error={wrong('segments')}>
              <input name="segments" type="text" defaultValue={tagged.segments.join(', ')} />
            </Field>
            <Field label={t.authority} error={wrong('authority')}>
              <select name="authority">
                {Object.entries(t.authorities).map(([id, name]) => (
                  <option key={id} value={id} selected={id === tagged.authority}>
                    {name}
                  </option>
                ))}
              </select>
            </Field>
          </>
        )}
      </Form>
    </Dialog>
  );
}
