type Piece = { type: 'text'; text: string };

/**
 * Yields the same events, but joins the text pieces that arrive within `ms` milliseconds. The very first piece is
 * yielded at once. Joined pieces are yielded when `ms` have passed, even if no event follows. An event that is not text
 * is yielded at once, after the text before it.
 */
export async function* gathered<E extends { type: string }>(
  events: AsyncGenerator<E | Piece>,
  ms: number,
): AsyncGenerator<E | Piece, void, undefined> {
  let text = '';
  let begun = false;
  let over: Promise<'over'> | undefined;
  let timer: NodeJS.Timeout | undefined;
  try {
    let next = events.next();
    for (;;) {
      const got = await (over === undefined ? next : Promise.race([next, over]));
      if (got === 'over') {
        yield { type: 'text', text };
        [text, over] = ['', undefined];
        continue;
      }
      if (got.done !== true && isText(got.value) && !begun) {
        begun = true;
        yield got.value;
      } else if (got.done !== true && isText(got.value)) {
        text += got.value.text;
        over ??= new Promise((resolve) => (timer = setTimeout(() => resolve('over'), ms)));
      } else {
        clearTimeout(timer);
        if (text !== '') yield { type: 'text', text };
        [text, over] = ['', undefined];
        if (got.done === true) return;
        yield got.value;
      }
      next = events.next();
      // `next` is awaited in the next iteration; until then its failure must not count as an unhandled rejection.
      next.catch(() => undefined);
    }
  } finally {
    clearTimeout(timer);
    // `return` is not awaited, because `events` may be waiting for a request that only the caller can abort.
    void events.return(undefined).catch(() => undefined);
  }
}

const isText = (event: { type: string }): event is Piece => event.type === 'text';
