/** Long lists, which are read page by page. A button is shown while there are more pages. */
import type { Signal } from '@preact/signals';
import { texts } from '../../texts/texts.ts';

export const pageSize = 50;

type Page<T> = { entries: readonly T[]; cursor: string | null };

/** The first `pages` pages of a list, read one after the other. */
export async function readPages<T, P extends Page<T>>(
  pages: number,
  read: (cursor: string | undefined) => Promise<P>,
): Promise<P & { entries: T[] }> {
  let page = await read(undefined);
  const entries = [...page.entries];
  for (let at = 1; at < pages && page.cursor !== null; at += 1) {
    page = await read(page.cursor);
    entries.push(...page.entries);
  }
  return { ...page, entries };
}

type Given = { cursor: string | null | undefined; pages: Signal<number>; again: () => Promise<void> };

export const More = ({ cursor, pages, again }: Given) =>
  cursor ? (
    <button
      type="button"
      onClick={() => {
        pages.value += 1;
        void again();
      }}
    >
      {texts.value.more}
    </button>
  ) : null;
