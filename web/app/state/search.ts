/** Searching the inbox: the hits for the words in the address. */
import { signal } from '@preact/signals';
import { call } from '../api/call.ts';
import { searchInbox } from '../api/operations.ts';
import { here } from './session.ts';
import { attempt } from './toast.ts';

type Reply = NonNullable<NonNullable<(typeof searchInbox)['types']>['reply']>;
export type Hit = Reply['hits'][number];

export const hits = signal<readonly Hit[] | undefined>(undefined);
const next = signal<string | null>(null);
let begun: AbortController | undefined;

/** Searches from the beginning. The response to an earlier search is ignored. */
export async function search(q: string): Promise<void> {
  begun?.abort();
  hits.value = undefined;
  await read(q, undefined);
}

export async function searchMore(q: string): Promise<void> {
  if (next.value !== null) await read(q, next.value);
}

async function read(q: string, cursor: string | undefined): Promise<void> {
  const mine = (begun = new AbortController());
  next.value = null;
  await attempt(async () => {
    const { params, query } = here();
    const found = await call(searchInbox, {
      params,
      query: { ...query, q, limit: 50, cursor },
      signal: mine.signal,
    }).catch((error: unknown) => {
      if (mine.signal.aborted) return undefined;
      throw error;
    });
    if (!found || mine.signal.aborted) return;
    hits.value = [...(cursor === undefined ? [] : (hits.value ?? [])), ...found.hits];
    next.value = found.cursor;
  });
  if (!mine.signal.aborted) hits.value ??= [];
}
