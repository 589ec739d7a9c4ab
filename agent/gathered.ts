/** Gathers the pieces of a text that come one after the other, so that few of them have to be sent, and the first at once. */

type Piece = { type: 'text'; text: string };

/**
 * The same events, with texts that come within `ms` of each other's first one as one. The first text of all is given on at
 * once, a later one when its time is over, also when nothing follows; everything else at once, after the text before it.
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
      // It is looked at later; a failure meanwhile is not unhandled.
      next.catch(() => undefined);
    }
  } finally {
    clearTimeout(timer);
    // Not waited for: it may be in the middle of a wait of its own, which whoever made it can end.
    void events.return(undefined).catch(() => undefined);
  }
}

const isText = (event: { type: string }): event is Piece => event.type === 'text';
