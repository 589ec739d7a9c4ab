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
} from '../../api/operations.ts';
import { Changes } from './changes.tsx';
import type { Tagged } from './tags.tsx';
import { useEvery, useLoaded } from '../frame/loaded.ts';
import { More, pageSize, readPages } from '../frame/more.tsx';
import { Link } from '../../parts/link.tsx';
import { here, mode, orgId } from '../../state/session.ts';
import { follow } from '../../state/route.ts';
import { attempt, toast } from '../../state/toast.ts';
import { texts } from '../../texts/texts.ts';

const at = (docId: string) => ({ params: { orgId: orgId.value, docId }, query: { mode: mode.value } });
const isEditable = ({ mime_type }: Document): boolean => /^text\/(?:markdown|plain)$/.test(mime_type);

export function Documents() {
  const t = texts.value.knowledge;
  const pages = useSignal(1);
  const { data, error, again } = useLoaded(() => {
    const { params, query } = here();
    return readPages(pages.value, async (cursor) => {
      const page = await call(listDocuments, { params, query: { ...query, limit: pageSize, cursor } });
      return { ...page, entries: page.documents };
    });
  });
  const busy = data?.entries.some(({ status }) => status === 'uploaded' || status === 'processing') ?? false;
  useEvery(1_500, busy, again);
  const tag = async ({ doc_id }: Document, { segments, authority, title, public_url }: Tagged) => {
    await call(setDocumentSegments, { ...at(doc_id), body: { segments } });
    await call(setDocumentAuthority, { ...at(doc_id), body: { authority } });
    await call(setDocumentSource, { ...at(doc_id), body: { title: title || null, public_url: public_url || null } });
  };
  const reprocess = async ({ doc_id }: Document) => {
    await attempt(() => call(reprocessDocument, { ...at(doc_id), body: {} }));
    await again();
  };
  return (
    <>
      <Upload again={again} />
      {error && <p class="error">{error}</p>}
      {!data && !error && <p>{texts.value.loading}</p>}
      {data?.entries.length === 0 && <p>{t.noDocuments}</p>}
      {data && data.entries.length > 0 && (
        <div class="scroll">
          <table>
            <caption>{t.shown(data.entries.length, data.count)}</caption>
            <thead>
              <tr>
                <th scope="col">{t.name}</th>
                <th scope="col">{t.state}</th>
                <th scope="col">{t.segments}</th>
                <th scope="col">
                  <span class="hidden">{t.change}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {data.entries.map((one) => (
                <tr key={one.doc_id}>
                  <th scope="row">{one.filename}</th>
                  <td>
                    {t.states[one.status]}{' '}
                    {one.status === 'indexed' && one.embedded_at === null && <small>{t.byWords}</small>}
                    {one.error && <p class="error">{one.error}</p>}
                  </td>
                  <td>
                    {one.segments.join(', ')}{' '}
                    {one.authority !== 'normal' && <small>{t.authorities[one.authority]}</small>}
                  </td>
                  <td class="line">
                    {isEditable(one) && (
                      <Link
                        class="button"
                        to={{ screen: 'knowledge', id: 'article', part: one.doc_id }}
                        follow={follow}
                      >
                        {t.edit}
                        <span class="hidden"> {one.filename}</span>
                      </Link>
                    )}
                    <button type="button" onClick={() => void reprocess(one)}>
                      {t.again}
                      <span class="hidden"> {one.filename}</span>
                    </button>
                    <Changes
                      name={one.filename}
                      tagged={one}
                      cited
                      tag={(tags) => tag(one, tags)}
                      remove={() => call(deleteDocument, at(one.doc_id))}
                      again={again}
                    />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <More cursor={data?.cursor} pages={pages} again={again} />
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
      <Link class="button" to={{ screen: 'knowledge', id: 'article', part: 'new' }} follow={follow}>
        {t.write} <kbd>c</kbd>
      </Link>
      <p role="status">{busy.value && t.uploading(busy.value)}</p>
    </div>
  );
}
