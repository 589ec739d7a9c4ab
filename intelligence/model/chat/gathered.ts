/** Joins pieces of a text that come shortly after each other, so that fewer are sent. The first one is sent at once. */

type Piece = { type: 'text'; text: string };

/**
 * The same events, with texts that come within `ms` of the first of them joined into one. The first text of all is yielded at
 * once, later ones when `ms` are over, also when nothing follows. Other events are yielded at once, after the text before.
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
      // It is awaited in the next round; until then a failure must not count as unhandled.
      next.catch(() => undefined);
    }
  } finally {
    clearTimeout(timer);
    // Not awaited: the generator may be in the middle of a wait that only its maker can end.
    void events.return(undefined).catch(() => undefined);
  }
}

const isText = (event: { type: string }): event is Piece => event.type === 'text';
