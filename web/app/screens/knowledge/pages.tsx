/** Pages of crawled sites: the crawl and its problems, the schedules, and the stored pages. */
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
} from '../../../../api/crawl/contract/crawl.ts';
import { Changes } from './changes.tsx';
import { segmentsOf, type Tagged } from './tags.tsx';
import { Form } from '../frame/form.tsx';
import { useEvery, useLoaded } from '../frame/loaded.ts';
import { usePages } from '../frame/more.tsx';
import { Act } from '../../parts/act.tsx';
import { Text, textOf } from '../../parts/field.tsx';
import { Table } from '../../parts/table.tsx';
import { moment } from '../../rules/times.ts';
import { here } from '../../state/session.ts';
import { locale, texts } from '../../texts/texts.ts';

export function Pages() {
  const t = texts.value.knowledge;
  const pages = usePages(listPages, 'entries');
  const site = useLoaded(async () => {
    const [{ status: crawl }, { schedules }] = await Promise.all([
      call(getCrawlStatus, here()),
      call(listCrawlSchedules, here()),
    ]);
    return { crawl, schedules };
  });
  const again = async () => {
    await Promise.all([pages.again(), site.again()]);
  };
  useEvery(2_000, site.data?.crawl.status === 'crawling', again);
  const tag = async ({ page_id: pageId }: Page, { segments, authority }: Tagged) => {
    await call(setPageSegments, { ...here({ pageId }), body: { segments } });
    await call(setPageAuthority, { ...here({ pageId }), body: { authority } });
  };
  const error = pages.error || site.error;
  if (!pages.data || !site.data) return <p class={error && 'error'}>{error || texts.value.loading}</p>;
  const { entries, count } = pages.data;
  const { crawl, schedules } = site.data;
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
          <Act name={t.cancelCrawl} act={() => site.act(() => call(cancelCrawl, here())).then(pages.again)} />
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
            <Act
              name={texts.value.remove}
              of={url}
              act={() => site.act(() => call(deleteCrawlSchedule, here({ scheduleId: schedule_id })), t.deleted)}
            />
          </li>
        ))}
      </ul>
      {entries.length === 0 && <p>{t.noPages}</p>}
      {entries.length > 0 && (
        <Table
          heads={[texts.value.name, t.crawledAt, t.segments]}
          acts={t.change}
          caption={t.shown(entries.length, count)}
        >
          {entries.map((page) => (
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
                  remove={() => call(deletePage, here({ pageId: page.page_id }))}
                  again={pages.again}
                />
              </td>
            </tr>
          ))}
        </Table>
      )}
      {pages.more}
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
        <Text name="url" label={texts.value.address} type="url" required placeholder="https://" />
        <Text name="max_pages" label={t.maxPages} type="number" min={1} />
        <Text name="every_hours" label={t.everyHours} type="number" min={1} />
        <Text name="segments" of="options" label={t.segments} hint={t.segments_hint} />
      </Form>
    </details>
  );
}
