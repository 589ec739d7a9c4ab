/** Long lists, which are read page by page. */
import { useSignal } from '@preact/signals';
import { useLoaded } from './loaded.ts';
import { call, type Operation } from '../../api/call.ts';
import { Act } from '../../parts/act.tsx';
import { here } from '../../state/session.ts';
import { texts } from '../../texts/texts.ts';

const pageSize = 50;

/** A page as the server sends it. The name of the field with its entries depends on the list. */
type Page = { [name: string]: unknown; cursor?: string | null; next_cursor?: string | null };
/** All pages that were read: the fields of the last page, with the entries of all pages. */
type Pages<R, K extends keyof R> = R & { entries: R[K]; cursor: string | null };
type Query<Q> = { [N in keyof Q]?: Q[N] | undefined };
type Given<Q> = { params: { orgId: string }; query?: Query<Q>; signal?: AbortSignal };

/** The first `pages` pages of a list, read one after the other. `key`: the field of a page that has its entries. */
export async function readPages<K extends string, Q extends object, R extends Record<K, readonly unknown[]>>(
  pages: number,
  operation: Operation<{ orgId: string }, Q, undefined, R>,
  key: K,
  { query, ...given }: Given<Q>,
): Promise<Pages<R, K>> {
  const entries: unknown[] = [];
  let page: Page = {};
  let cursor: string | null | undefined;
  for (let at = 0; at < pages && cursor !== null; at += 1) {
    const asked = { limit: pageSize, ...query, cursor } as never;
    page = (await call(operation, { ...given, query: asked })) as object as Page;
    entries.push(...(page[key as string] as unknown[]));
    cursor = page.cursor ?? page.next_cursor ?? null;
  }
  return { ...page, entries, cursor } as never;
}

/**
 * Reads a list for the current organization and mode. `more`: a button that reads the next page, if there is a next
 * page.
 */
export function usePages<K extends string, Q extends object, R extends Record<K, readonly unknown[]>>(
  operation: Operation<{ orgId: string }, Q, undefined, R>,
  key: K,
  query?: Query<Q>,
) {
  const pages = useSignal(1);
  const loaded = useLoaded(
    (signal) => {
      const { params, query: where } = here();
      return readPages(pages.value, operation, key, { params, query: { ...where, ...query } as never, signal });
    },
    [JSON.stringify(query)],
  );
  const next = () => {
    pages.value += 1;
    return loaded.again();
  };
  return { ...loaded, more: loaded.data?.cursor ? <Act name={texts.value.more} act={next} /> : null };
}
