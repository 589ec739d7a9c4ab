/** Long lists, which are read page by page. */
import { useSignal } from '@preact/signals';
import { useLoaded } from './loaded.ts';
import { call, type Given, type ReplyOf } from '../../api/call.ts';
import type { Operation } from '../../../../api/base/contract/operation.ts';
import { Act } from '../../parts/act.tsx';
import { here } from '../../state/session.ts';
import { texts } from '../../texts/texts.ts';

const pageSize = 50;

/** A page as the server sends it. The name of the field with its entries depends on the list. */
type Page = { [name: string]: unknown; cursor?: string | null; next_cursor?: string | null };
/** What was read of a list: the entries of all pages, the number of pages, and where the next page begins. */
type Had<E = unknown> = { entries: E; pages: number; cursor: string | null };
/** All pages that were read, with the other fields of the last page. */
type Pages<O extends Operation, K extends keyof ReplyOf<O>> = ReplyOf<O> & Had<ReplyOf<O>[K]>;

/**
 * The first `pages` pages of a list, read one after the other. `key`: the field of a page that has its entries. `had`:
 * the first pages as they were read before; only those after them are read.
 */
export async function readPages<O extends Operation, K extends keyof ReplyOf<O> & string>(
  pages: number,
  operation: O,
  key: K,
  { query, ...given }: Given<O>,
  had?: Had,
): Promise<Pages<O, K>> {
  const entries = [...((had?.entries ?? []) as readonly unknown[])];
  let page: Page = {};
  let cursor = had?.cursor;
  let at = had?.pages ?? 0;
  for (; at < pages && cursor !== null; at += 1) {
    const asked = { limit: pageSize, ...query, cursor } as never;
    page = (await call(operation, { ...given, query: asked })) as object as Page;
    entries.push(...(page[key] as unknown[]));
    cursor = page.cursor ?? page.next_cursor ?? null;
  }
  return { ...page, entries, pages: at, cursor } as never;
}

/**
 * Reads a list for the current organization and mode. `next` reads the next page, if there is one; then `more` is a
 * button for it.
 */
export function usePages<O extends Operation, K extends keyof ReplyOf<O> & string>(
  operation: O,
  key: K,
  query?: Given<O>['query'],
) {
  const pages = useSignal(1);
  const read = (signal: AbortSignal, had?: Had) => {
    const { params, query: where } = here();
    return readPages(pages.value, operation, key, { params, query: { ...where, ...query }, signal } as never, had);
  };
  const loaded = useLoaded(read, [JSON.stringify(query)]);
  const next = async () => {
    const { data } = loaded;
    if (!data?.cursor) return;
    pages.value = data.pages + 1;
    // A new read aborts a read that still runs, which may be the refresh after a change. In that case, the pages in
    // `data` may be outdated, so all pages are read.
    await (loaded.reading() ? loaded.again() : loaded.readBy((signal) => read(signal, data)));
  };
  return { ...loaded, next, more: loaded.data?.cursor ? <Act name={texts.value.more} act={next} /> : null };
}
