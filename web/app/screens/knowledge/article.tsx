/** The editor for an article, beside the passages that are nearest to the customers' question. */
import { useEffect, useMemo } from 'preact/hooks';
import { signal, useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { call } from '../../api/call.ts';
import { changeDocumentText, getDocumentText, writeArticle } from '../../../../api/knowledge/contract/documents.ts';
import { queryKnowledge } from '../../../../api/knowledge/contract/knowledge.ts';
import { Candidates, type Asked } from './candidates.tsx';
import { segmentsOf } from './tags.tsx';
import { Form } from '../frame/form.tsx';
import { Act } from '../../parts/act.tsx';
import { Text } from '../../parts/field.tsx';
import { longestTitle, titleOf } from '../../rules/writing.ts';
import { unsavedArticle, type Article } from '../../state/article.ts';
import { address, go } from '../../state/route.ts';
import { here } from '../../state/session.ts';
import { attempt } from '../../state/toast.ts';
import { texts } from '../../texts/texts.ts';

/** The component that renders Markdown. Only this editor loads it. */
const markdown = signal<ComponentType<{ text: string }> | undefined>(undefined);

export function ArticleEditor({ docId }: { docId: string }) {
  const t = texts.value.knowledge;
  const { gap = '', question = '' } = address.value.filters;
  // `unsaved` is made once, because it belongs to the organization and mode in which the editor was opened.
  const unsaved = useMemo(() => unsavedArticle(docId || question), []);
  const article = useSignal(unsaved.get() ?? { title: titleOf(question), text: '', segments: '', basedOn: '' });
  const near = useSignal<Asked['explain']>(undefined);
  const at = here({ docId });
  const read = () =>
    attempt(async () => {
      const found = await call(getDocumentText, at);
      const title = found.name.replace(/\.(?:md|markdown|txt)$/i, '');
      article.value = { title, text: found.text, segments: '', basedOn: found.sha256 };
      unsaved.drop();
    });
  const type = (typed: Partial<Article>) => {
    article.value = { ...article.value, ...typed };
    // Text that is typed before the document has been read (`basedOn` is empty) is not kept, because it is not based on
    // the document's text.
    if (!docId || article.value.basedOn) unsaved.keep(article.value);
  };
  const Preview = markdown.value;
  useEffect(() => {
    void attempt(async () => (markdown.value = (await import('./markdown.tsx')).default));
    if (docId && !unsaved.get()) void read();
    if (question)
      void attempt(async () => {
        near.value = (await call(queryKnowledge, { ...here(), body: { query: question, explain: true } })).explain;
      });
  }, []);
  const send = async () => {
    const { title: name, text, segments, basedOn } = article.value;
    if (docId) await call(changeDocumentText, { ...at, body: { name, text, based_on: basedOn } });
    else {
      const gap_ids = gap ? [gap] : [];
      await call(writeArticle, { ...here(), body: { name, text, segments: segmentsOf(segments), gap_ids } });
    }
    unsaved.drop();
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
            label={t.articleTitle}
            required
            maxLength={longestTitle}
            value={article.value.title}
            change={(title) => type({ title })}
          />
          <Text
            name="text"
            label={t.text}
            required
            rows={18}
            value={article.value.text}
            change={(text) => type({ text })}
          />
          {!docId && (
            <Text
              name="segments"
              label={t.segments}
              hint={t.segments_hint}
              value={article.value.segments}
              change={(segments) => type({ segments })}
            />
          )}
        </Form>
        <div>
          <h3>{t.preview}</h3>
          <div class="drawn">
            {Preview ? <Preview text={article.value.text} /> : <p class="said">{article.value.text}</p>}
          </div>
          {near.value && <Candidates explain={near.value} />}
        </div>
      </div>
    </section>
  );
}
