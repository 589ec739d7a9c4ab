/** The documents: their upload, their state, and the segments of customers that they are for. */
import { useSignal } from '@preact/signals';
import { call } from '../../api/call.ts';
import {
  deleteDocument,
  listDocuments,
  reprocessDocument,
  setDocumentAuthority,
  setDocumentSegments,
  setDocumentSource,
  uploadDocument,
  type Document,
} from '../../../../api/knowledge/contract/documents.ts';
import { Changes } from './changes.tsx';
import type { Tagged } from './tags.tsx';
import { Link } from '../frame/link.tsx';
import { useEvery } from '../frame/loaded.ts';
import { usePages } from '../frame/more.tsx';
import { Act } from '../../parts/act.tsx';
import { Table } from '../../parts/table.tsx';
import { here } from '../../state/session.ts';
import { attempt, toast } from '../../state/toast.ts';
import { texts } from '../../texts/texts.ts';

const isEditable = ({ mime_type }: Document): boolean => /^text\/(?:markdown|plain)$/.test(mime_type);

export function Documents() {
  const t = texts.value.knowledge;
  const { data, error, again, act, more } = usePages(listDocuments, 'documents');
  const busy = data?.entries.some(({ status }) => status === 'uploaded' || status === 'processing') ?? false;
  useEvery(1_500, busy, again);
  const tag = async ({ doc_id: docId }: Document, { segments, authority, title, public_url }: Tagged) => {
    await call(setDocumentSegments, { ...here({ docId }), body: { segments } });
    await call(setDocumentAuthority, { ...here({ docId }), body: { authority } });
    await call(setDocumentSource, {
      ...here({ docId }),
      body: { title: title || null, public_url: public_url || null },
    });
  };
  const reprocess = ({ doc_id: docId }: Document) => act(() => call(reprocessDocument, here({ docId })));
  return (
    <>
      <Upload again={again} />
      {error && <p class="error">{error}</p>}
      {!data && !error && <p>{texts.value.loading}</p>}
      {data?.entries.length === 0 && <p>{t.noDocuments}</p>}
      {data && data.entries.length > 0 && (
        <Table
          heads={[texts.value.name, texts.value.state, t.segments]}
          acts={t.change}
          caption={t.shown(data.entries.length, data.count)}
        >
          {data.entries.map((one) => (
            <tr key={one.doc_id}>
              <th scope="row">{one.filename}</th>
              <td>
                {t.states[one.status]}{' '}
                {one.status === 'indexed' && one.embedded_at === null && <small>{t.byWords}</small>}
                {one.error && <p class="error">{one.error}</p>}
              </td>
              <td>
                {one.segments.join(', ')} {one.authority !== 'normal' && <small>{t.authorities[one.authority]}</small>}
              </td>
              <td class="line">
                {isEditable(one) && (
                  <Link class="button" to={{ screen: 'knowledge', id: 'article', part: one.doc_id }}>
                    {t.edit}
                    <span class="hidden"> {one.filename}</span>
                  </Link>
                )}
                <Act name={t.again} of={one.filename} act={() => reprocess(one)} />
                <Changes
                  name={one.filename}
                  tagged={one}
                  cited
                  tag={(tags) => tag(one, tags)}
                  remove={() => call(deleteDocument, here({ docId: one.doc_id }))}
                  again={again}
                />
              </td>
            </tr>
          ))}
        </Table>
      )}
      {more}
    </>
  );
}

function Upload({ again }: { again: () => Promise<void> }) {
  const t = texts.value.knowledge;
  const busy = useSignal('');
  const upload = async (files: Iterable<File>) => {
    for (const file of files) {
      busy.value = file.name;
      const form = new FormData();
      form.set('file', file, file.name);
      await attempt(async () => {
        const { duplicate } = await call(uploadDocument, { ...here(), body: form });
        if (duplicate) toast(t.alreadyThere(file.name));
      });
      await again();
    }
    busy.value = '';
  };
  return (
    <div
      class="drop"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        void upload(event.dataTransfer?.files ?? []);
      }}
    >
      <label class="field">
        <span>{t.upload}</span>
        <input
          type="file"
          multiple
          accept=".docx,.txt,.md,.csv,.xlsx"
          onChange={({ currentTarget }) => {
            void upload([...(currentTarget.files ?? [])]);
            currentTarget.value = '';
          }}
        />
        <small>{t.dropHere}</small>
      </label>
      <Link class="button" to={{ screen: 'knowledge', id: 'article', part: 'new' }}>
        {t.write} <kbd>c</kbd>
      </Link>
      <p role="status">{busy.value && t.uploading(busy.value)}</p>
    </div>
  );
}
