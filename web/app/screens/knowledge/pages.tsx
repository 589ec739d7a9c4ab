/** Pages of crawled sites: the crawl and its problems, the schedules, and the stored pages. */
import { useSignal } from '@preact/signals';
import { call } from '../../api/call.ts';
import {
  cancelCrawl,
  deleteCrawlSchedule,
  deletePage,
  getCrawlStatus,
  listCrawlSchedules,
  listPages,
  setPageAuthority,
  setPageSegments,
  startCrawl,
  type Page,
} from '../../api/operations.ts';
import { Changes } from './changes.tsx';
import { segmentsOf, type Tagged } from './tags.tsx';
import { Form } from '../frame/form.tsx';
import { useEvery, useLoaded } from '../frame/loaded.ts';
import { More, pageSize, readPages } from '../frame/more.tsx';
import { Field, textOf } from '../../parts/field.tsx';
import { moment } from '../../rules/times.ts';
import { here, mode, orgId } from '../../state/session.ts';
import { attempt } from '../../state/toast.ts';
import { locale, texts } from '../../texts/texts.ts';

const at = (pageId: string) => ({ params: { orgId: orgId.value, pageId }, query: { mode: mode.value } });

export function Pages() {
  const t = texts.value.knowledge;
  const pagesRead = useSignal(1);
  const { data, error, again } = useLoaded(async () => {
    const { params, query } = here();
    const [pages, { status: crawl }, { schedules }] = await Promise.all([
      readPages(pagesRead.value, (cursor) => call(listPages, { params, query: { ...query, limit: pageSize, cursor } })),
      call(getCrawlStatus, { params, query }),
      call(listCrawlSchedules, { params, query }),
    ]);
    return { pages, crawl, schedules };
  });
  useEvery(2_000, data?.crawl.status === 'crawling', again);
  const act = async (made: () => Promise<unknown>, done?: string) => {
    await attempt(made, done);
    await again();
  };
  const tag = async ({ page_id }: Page, { segments, authority }: Tagged) => {
    await call(setPageSegments, { ...at(page_id), body: { segments } });
    await call(setPageAuthority, { ...at(page_id), body: { authority } });
  };
  if (!data) return <p class={error && 'error'}>{error || texts.value.loading}</p>;
  const { crawl, pages, schedules } = data;
  return (
    <>
      <Start again={again} />
      <section aria-label={t.crawl} role="status">
        <p>
          {t.crawlStates[crawl.status]} {crawl.url}{' '}
          {crawl.status !== 'idle' &&
            t.crawled(crawl.pages_processed, crawl.pages_unchanged, crawl.pages_skipped, crawl.pages_failed)}
        </p>
        {crawl.error && <p class="error">{crawl.error}</p>}
        {crawl.status === 'crawling' && (
          <button type="button" onClick={() => void act(() => call(cancelCrawl, { ...here(), body: {} }))}>
            {t.cancelCrawl}
          </button>
        )}
      </section>
      {crawl.problems.length > 0 && (
        <details>
          <summary>
            {t.problems} ({crawl.problem_counts.reduce((sum, { count }) => sum + count, 0)})
          </summary>
          <dl>
            {crawl.problems.map(({ url, reason }) => (
              <div key={url}>
                <dt>{url}</dt>
                <dd>{reason}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
      {schedules.length > 0 && <h2>{t.schedules}</h2>}
      <ul>
        {schedules.map(({ schedule_id, url, every_hours, next_crawl_at }) => (
          <li key={schedule_id} class="line">
            {url}: {t.every(every_hours, moment(next_crawl_at, new Date(), locale.value))}
            <button
              type="button"
              onClick={() => {
                const { params, query } = here();
                void act(
                  () => call(deleteCrawlSchedule, { params: { ...params, scheduleId: schedule_id }, query }),
                  t.deleted,
                );
              }}
            >
              {texts.value.remove}
              <span class="hidden"> {url}</span>
            </button>
          </li>
        ))}
      </ul>
      {pages.entries.length === 0 && <p>{t.noPages}</p>}
      {pages.entries.length > 0 && (
        <div class="scroll">
          <table>
            <caption>{t.shown(pages.entries.length, pages.count)}</caption>
            <thead>
              <tr>
                <th scope="col">{t.name}</th>
                <th scope="col">{t.crawledAt}</th>
                <th scope="col">{t.segments}</th>
                <th scope="col">
                  <span class="hidden">{t.change}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {pages.entries.map((page) => (
                <tr key={page.page_id}>
                  <th scope="row">
                    <a href={page.source_url} target="_blank" rel="noopener noreferrer">
                      {page.title || page.source_url}
                    </a>
                  </th>
                  <td>
                    {moment(page.crawled_at, new Date(), locale.value)}{' '}
                    {page.embedded_at === null && <small>{t.byWords}</small>}
                  </td>
                  <td>
                    {page.segments.join(', ')} <small>{t.authorities[page.authority]}</small>
                  </td>
                  <td class="line">
                    <Changes
                      name={page.title || page.source_url}
                      tagged={page}
                      tag={(tags) => tag(page, tags)}
                      remove={() => call(deletePage, at(page.page_id))}
                      again={again}
                    />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <More cursor={pages.cursor} pages={pagesRead} again={again} />
    </>
  );
}

function Start({ again }: { again: () => Promise<void> }) {
  const t = texts.value.knowledge;
  const send = async (form: HTMLFormElement) => {
    const number = (name: string) => (textOf(form, name) === '' ? {} : { [name]: Number(textOf(form, name)) });
    const options = {
      segments: segmentsOf(textOf(form, 'segments')),
      ...number('max_pages'),
      ...number('every_hours'),
    };
    await call(startCrawl, { ...here(), body: { url: textOf(form, 'url'), options } });
    form.reset();
    await again();
  };
  return (
    <details>
      <summary>{t.crawl}</summary>
      <Form send={send} action={t.start}>
        {(wrong) => (
          <>
            <Field label={t.url} error={wrong('url')}>
              <input name="url" type="url" required placeholder="https://" />
            </Field>
            <Field label={t.maxPages}>
              <input name="max_pages" type="number" min={1} />
            </Field>
            <Field label={t.everyHours}>
              <input name="every_hours" type="number" min={1} />
            </Field>
            <Field label={t.segments} hint={t.segmentsHint} error={wrong('options')}>
              <input name="segments" type="text" />
            </Field>
          </>
        )}
      </Form>
    </details>
  );
}
