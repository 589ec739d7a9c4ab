/**
 * A long list of rows of one height. Only rows near the visible part are in the document; `aria-setsize` gives the
 * number of all rows.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

type Given<T> = {
  label: string;
  items: readonly T[];
  /** The height of each row, in px. */
  height: number;
  keyOf: (item: T) => string;
  row: (item: T) => ComponentChildren;
  /** The key of the row that is kept visible. */
  current?: string;
  /** Called when the last row is near the visible part. */
  more?: () => void;
  empty: string;
};

const beyond = 5;

export function Rows<T>({ label, items, height, keyOf, row, current, more, empty }: Given<T>) {
  const ref = useRef<HTMLDivElement>(null);
  const [{ top, size }, setSeen] = useState({ top: 0, size: 800 });
  // The browser may still send a scroll event to a list that the page has just removed, when `ref` is empty.
  const look = ({ scrollTop, clientHeight }: HTMLElement) => {
    setSeen((was) =>
      was.top === scrollTop && was.size === clientHeight ? was : { top: scrollTop, size: clientHeight },
    );
  };
  useEffect(() => {
    const list = ref.current!;
    const watch = new ResizeObserver(() => look(list));
    watch.observe(list);
    return () => watch.disconnect();
  }, []);
  const place = current === undefined ? -1 : items.findIndex((item) => keyOf(item) === current);
  useEffect(() => {
    const list = ref.current!;
    if (place < 0) return;
    if (place * height < list.scrollTop) list.scrollTop = place * height;
    else if ((place + 1) * height > list.scrollTop + list.clientHeight)
      list.scrollTop = (place + 1) * height - list.clientHeight;
  }, [current, place]);
  const first = Math.max(0, Math.floor(top / height) - beyond);
  const last = Math.min(items.length, Math.ceil((top + size) / height) + beyond);
  useEffect(() => {
    if (last === items.length) more?.();
  }, [last, items.length]);
  return (
    <div class="rows" ref={ref} onScroll={({ currentTarget }) => look(currentTarget)} tabIndex={-1}>
      {items.length === 0 ? (
        <p class="empty">{empty}</p>
      ) : (
        <ul aria-label={label} style={{ blockSize: `${items.length * height}px` }}>
          {items.slice(first, last).map((item, at) => (
            <li
              key={keyOf(item)}
              aria-setsize={items.length}
              aria-posinset={first + at + 1}
              style={{ insetBlockStart: `${(first + at) * height}px`, blockSize: `${height}px` }}
            >
              {row(item)}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
