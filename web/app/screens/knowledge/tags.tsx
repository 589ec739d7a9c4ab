/**
 * The dialog for the segments and the priority of a document or page, and for the title and address under which
 * customers see a document as a source.
 */
import type { Document } from '../../../../api/knowledge/contract/documents.ts';
import { Form } from '../frame/form.tsx';
import { Act } from '../../parts/act.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { fieldsOf, Select, Text, textOf } from '../../parts/field.tsx';
import { texts } from '../../texts/texts.ts';

export type Tagged = Pick<Document, 'segments' | 'authority' | 'title' | 'public_url'>;
type Given = {
  title: string;
  tagged: Tagged;
  /** True for a document, which gets a title and an address here; a page has its own. */
  cited: boolean;
  save: (tags: Tagged) => Promise<void>;
  closed: () => void;
};

export const segmentsOf = (text: string): string[] =>
  text
    .split(',')
    .map((segment) => segment.trim())
    .filter(Boolean);

export function Tags({ title, tagged, cited, save, closed }: Given) {
  const t = texts.value.knowledge;
  const of = fieldsOf(t, { ...tagged, segments: tagged.segments.join(', ') });
  const send = async (form: HTMLFormElement) => {
    await save({
      segments: segmentsOf(textOf(form, 'segments')),
      authority: textOf(form, 'authority') as Tagged['authority'],
      title: textOf(form, 'title').trim(),
      public_url: textOf(form, 'public_url').trim(),
    });
    closed();
  };
  return (
    <Dialog title={title} closed={closed}>
      <Form
        send={send}
        action={texts.value.save}
        done={texts.value.saved}
        beside={<Act name={texts.value.cancel} act={closed} />}
      >
        <Text {...of('segments')} />
        <Select {...of('authority')} names={t.authorities} chosen={tagged.authority} />
        {cited && (
          <>
            <Text {...of('title')} maxLength={200} />
            <Text {...of('public_url')} type="url" maxLength={2000} />
          </>
        )}
      </Form>
    </Dialog>
  );
}
