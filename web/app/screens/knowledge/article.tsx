/** The editor for an article, beside the passages that are nearest to the customers' question. */
import { useEffect } from 'preact/hooks';
import { signal, useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { call } from '../../api/call.ts';
import { changeDocumentText, getDocumentText, queryKnowledge, writeArticle } from '../../api/operations.ts';
import { Candidates, type Asked } from './candidates.tsx';
import { segmentsOf } from './tags.tsx';
import { Form } from '../frame/form.tsx';
import { Act } from '../../parts/act.tsx';
import { Text, textOf } from '../../parts/field.tsx';
import { longestTitle, titleOf } from '../../rules/writing.ts';
import { address, go } from '../../state/route.ts';
import { here } from '../../state/session.ts';
import { attempt } from '../../state/toast.ts';
import { texts } from '../../texts/texts.ts';

/** The component that renders Markdown. Only this editor loads it. */
const markdown = signal<ComponentType<{ text: string }> | undefined>(undefined);

export function ArticleEditor({ docId }: { docId: string }) {
  const t = texts.value.knowledge;
  const { gap = '', question = '' } = address.value.filters;
  const title = useSignal(titleOf(question));
  const text = useSignal('');
  const basedOn = useSignal('');
  const near = useSignal<Asked['explain']>(undefined);
  const at = here({ docId });
  const read = () =>
    attempt(async () => {
      const found = await call(getDocumentText, at);
      title.value = found.name.replace(/\.(?:md|markdown|txt)$/i, '');
      text.value = found.text;
      basedOn.value = found.sha256;
    });
  const Preview = markdown.value;
  useEffect(() => {
    void attempt(async () => (markdown.value = (await import('./markdown.tsx')).default));
    if (docId) void read();
    if (question)
      void attempt(async () => {
        near.value = (await call(queryKnowledge, { ...here(), body: { query: question, explain: true } })).explain;
      });
  }, []);
  const send = async (form: HTMLFormElement) => {
    if (docId)
      await call(changeDocumentText, { ...at, body: { name: title.value, text: text.value, based_on: basedOn.value } });
    else {
      const gap_ids = gap ? [gap] : [];
      const segments = segmentsOf(textOf(form, 'segments'));
      await call(writeArticle, { ...here(), body: { name: title.value, text: text.value, segments, gap_ids } });
    }
    go({ screen: 'knowledge', id: 'documents' });
  };
  return (
    <section aria-label={docId ? t.edit : t.newArticle}>
      <h2>{docId ? t.edit : t.newArticle}</h2>
      {question && (
        <p>
          {t.answers}: <strong>{question}</strong>
        </p>
      )}
      <div class="beside">
        <Form
          send={send}
          action={texts.value.save}
          done={texts.value.saved}
          beside={docId ? <Act name={t.changedMeanwhile} act={read} /> : null}
        >
          <Text
            name="name"
            label={t.title}
            required
            maxLength={longestTitle}
            value={title.value}
            change={(typed) => (title.value = typed)}
          />
          <Text
            name="text"
            label={t.text}
            required
            rows={18}
            value={text.value}
            change={(typed) => (text.value = typed)}
          />
          {!docId && <Text name="segments" label={t.segments} hint={t.segmentsHint} />}
        </Form>
        <div>
          <h3>{t.preview}</h3>
          <div class="drawn">{Preview ? <Preview text={text.value} /> : <p class="said">{text.value}</p>}</div>
          {near.value && <Candidates explain={near.value} />}
        </div>
      </div>
    </section>
  );
}
