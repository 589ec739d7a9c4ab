/**
 * Turns a reply into plain text that is safe to show, whatever a source or a model wrote. The text loads no images,
 * runs no scripts and hides no link behind other words. Every URL in it comes from a source or from the customer. Pure.
 * It runs in linear time.
 */

/** The text that replaces a URL that no source contains. */
export const linkRemoved = '[link removed]';

/**
 * Control characters except tab and line break, characters that change the text direction, and invisible "tag"
 * characters.
 */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const invisible = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu;
const address = /[a-z][a-z0-9+.-]{0,20}:\/\/[^\s<>"'‹›`]+|(?<![a-z0-9])www\.[^\s<>"'‹›`]+/gi;
/** URLs with schemes that run, read or embed something. Ordinary text such as `data: 5 GB` does not match. */
const active =
  /\b(?:(?:java|vb|live)script:\S+|data:[\w.+-]*[/;,]\S*|(?:file|blob|filesystem|view-source|jar):[/\w]\S*)/gi;
/** Detects a word that contains a URL or an active scheme. */
const opensAddress = /:\/\/|www\.|(?:script|data|file|blob|filesystem|view-source|jar):/i;
const afterAddress = new Set('.,;:!?)]}…*_\'"');

/**
 * The maximum lengths of the text and the target of an image or a link, in characters. A longer image or link is not
 * replaced by `brackets`.
 */
const longestWords = 500;
const longestTarget = 2_000;
/**
 * The most different URLs that `linksToWords` and `harmless` each look up in the sources, because each lookup scans all
 * sources. A real answer has fewer URLs.
 */
const mostAddresses = 200;

export type ReplyStream = {
  /** Adds a piece and returns the text that is now final, which no later piece can change. */
  push(piece: string): string;
  /** Returns the remaining text. */
  end(): string;
};

/**
 * Processes the text as far as no later piece can change it, or all of it when `last`. The caller passes `rest` again,
 * followed by the next piece.
 */
type Stage = (text: string, last: boolean) => { done: string; rest: string };

/**
 * The reply as plain text. `grounds` are the texts from which URLs may come: the sources, their addresses, and the
 * customer's messages. An image becomes its description, and a link its text with its URL. The opening bracket of an
 * HTML tag is replaced.
 */
export function plainReply(text: string, grounds: readonly string[]): string {
  const stream = createReplyStream(grounds);
  return stream.push(text) + stream.end();
}

/**
 * Like `plainReply`, for a reply that is streamed. The result does not depend on how the reply is split into pieces.
 */
export function createReplyStream(grounds: readonly string[]): ReplyStream {
  // Images come first, because the text of a link may be an image.
  const stages: Stage[] = [visible, imagesToWords, linksToWords(namedIn(grounds)), harmless(namedIn(grounds))];
  const rests = stages.map(() => '');
  const through = (piece: string, last: boolean): string =>
    stages.reduce((text, stage, at) => {
      const { done, rest } = stage(rests[at]! + text, last);
      rests[at] = rest;
      return done;
    }, piece);
  return { push: (piece) => through(piece, false), end: () => through('', true) };
}

/** Whether the grounds contain a URL. After `mostAddresses` different URLs, further URLs count as not contained. */
function namedIn(grounds: readonly string[]): (url: string) => boolean {
  const known = new Map<string, boolean>();
  return (url) => {
    const plain = url.endsWith('/') ? url.slice(0, -1) : url;
    const named = known.get(plain) ?? (known.size < mostAddresses && grounds.some((ground) => ground.includes(plain)));
    if (known.size < mostAddresses) known.set(plain, named);
    return named;
  };
}

const cutAt = (text: string, at: number): { done: string; rest: string } => ({
  done: text.slice(0, at),
  rest: text.slice(at),
});

const visible: Stage = (text, last) => {
  // A trailing high surrogate waits for its second half, because the pair may be an invisible character.
  const { done, rest } = cutAt(
    text,
    !last && /[\ud800-\udbff]/.test(text.at(-1) ?? '') ? text.length - 1 : text.length,
  );
  return { done: done.replaceAll(invisible, ''), rest };
};

/** Results of `endOf`: the closing mark does not exist, or may still come with the next piece. */
const never = -1;
const notYet = -2;

/** Finds the next closing mark from a position on, on the same line and at most `longest` characters away. */
function endOf(text: string, from: number, mark: string, longest: number): number {
  const [line = ''] = text.slice(from, from + longest + 1).split('\n', 1);
  const at = line.indexOf(mark);
  if (at >= 0) return from + at;
  return from + line.length < text.length ? never : notYet;
}

/**
 * A stage that replaces an image (`![…]`) or a link (`[…]`) by what `show` returns. A `(target)` that follows, or a
 * `[reference]` that follows an image, is replaced too.
 */
function brackets(opening: '![' | '[', show: (words: string, target: string) => string): Stage {
  const image = opening === '![';
  return (text, last) => {
    let done = '';
    let from = 0;
    let at = text.indexOf(opening);
    while (at >= 0) {
      const words = endOf(text, at + opening.length, ']', longestWords);
      const follows = text[words + 1];
      let end = never;
      if (words < 0) end = words;
      else if (follows === '(') end = endOf(text, words + 2, ')', longestTarget);
      else if (follows === '[' && image) end = endOf(text, words + 2, ']', longestWords);
      else if (follows === undefined) end = notYet;
      if (end === notYet && !last) return { done: done + text.slice(from, at), rest: text.slice(at) };
      const whole = words >= 0 && (end >= 0 || image);
      if (whole) {
        const target = end >= 0 && follows === '(' ? text.slice(words + 2, end) : '';
        done += text.slice(from, at) + show(text.slice(at + opening.length, words), target);
        from = Math.max(end, words) + 1;
      }
      at = text.indexOf(opening, whole ? from : at + opening.length);
    }
    // A trailing exclamation mark may begin an image, so it waits for the next piece.
    const cut = image && !last && from < text.length && text.endsWith('!') ? text.length - 1 : text.length;
    return { done: done + text.slice(from, cut), rest: text.slice(cut) };
  };
}

const imagesToWords = brackets('![', (words) => words);

const linksToWords = (named: (url: string) => boolean): Stage =>
  brackets('[', (words, target) => {
    const url = (/\S+/.exec(target)?.[0] ?? '').replace(/^<|>$/g, '').replace(/^(?:mailto|tel):/i, '');
    return url === words || url === '' || !named(url) ? words : `${words} (${url})`;
  });

/**
 * Removes URLs that no source contains and URLs with active schemes. Breaks up image and link syntax that `brackets`
 * left, because the syntax is incomplete or spans lines.
 */
function harmless(named: (url: string) => boolean): Stage {
  const checked = (url: string): string => {
    let end = url.length;
    while (end > 0 && afterAddress.has(url[end - 1]!)) end -= 1;
    const bare = url.slice(0, end);
    return (/^(?:https?:\/\/|www\.)/i.test(bare) && named(bare) ? bare : linkRemoved) + url.slice(end);
  };
  return (text, last) => {
    const { done, rest } = cutAt(text, last ? text.length : settledLength(text));
    const shown = done.replaceAll('](', '] (').replaceAll(/<(?=[a-z/!?])/gi, '‹');
    return { done: withoutImageMarks(shown.replaceAll(active, linkRemoved).replaceAll(address, checked)), rest };
  };
}

/** Removes exclamation marks before an opening bracket, so that the text contains no image syntax. */
function withoutImageMarks(text: string): string {
  return text
    .split('[')
    .map((part, at, all) => {
      let end = part.length;
      while (at < all.length - 1 && part[end - 1] === '!') end -= 1;
      return part.slice(0, end);
    })
    .join('[');
}

const isVisibleAscii = (code: number): boolean => code > 0x20 && code < 0x7f;

/**
 * The length of the text that is final before the next piece arrives. Trailing ASCII characters may become a URL, and
 * an unfinished URL may grow, so neither is final. Text in scripts without blanks, such as Chinese, is final at once.
 */
function settledLength(text: string): number {
  let letters = text.length;
  while (isVisibleAscii(text.charCodeAt(letters - 1))) letters -= 1;
  let word = letters;
  while (word > 0 && /\S/.test(text[word - 1]!)) word -= 1;
  return opensAddress.test(text.slice(word)) ? word : letters;
}
