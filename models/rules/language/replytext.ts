/**
 * Makes plain text of a reply, whatever a source or a model wrote: nothing in it is loaded, run or hidden behind other words
 * by the page that shows it, and it names no address that its sources do not. Pure. It reads each text once, so no text can
 * keep a process busy.
 */

/** Stands where an address was that no source names. */
export const linkRemoved = '[link removed]';

/** Control characters but tab and line break, what turns the direction of text around, and invisible "tag" characters. */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const invisible = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu;
const address = /[a-z][a-z0-9+.-]{0,20}:\/\/[^\s<>"'‹›`]+|(?<![a-z0-9])www\.[^\s<>"'‹›`]+/gi;
/** Schemes that run, read or embed something; `data: 5 GB` is none. */
const active =
  /\b(?:(?:java|vb|live)script:\S+|data:[\w.+-]*[/;,]\S*|(?:file|blob|filesystem|view-source|jar):[/\w]\S*)/gi;
/** What makes a word one of them. */
const opensAddress = /:\/\/|www\.|(?:script|data|file|blob|filesystem|view-source|jar):/i;
const afterAddress = new Set('.,;:!?)]}…*_\'"');

/** Longest words and longest target of an image or a link, in characters; what is longer is none. */
const longestWords = 500;
const longestTarget = 2_000;
/** Different addresses that are looked for in the grounds, of links and again of words: more than an answer has. */
const mostAddresses = 200;

export type ReplyStream = {
  /** What the piece makes ready to be shown, which nothing that follows changes. */
  push(piece: string): string;
  /** The rest. */
  end(): string;
};

/** Makes as much ready as is certain, or, of the last of a text, everything. `rest` is to be given again with what follows. */
type Stage = (text: string, last: boolean) => { done: string; rest: string };

/**
 * The reply as plain text. `grounds` are the texts that an address may come from: the sources, their own addresses, and the
 * customer's words. Images become their description, links their text and their address; tags lose the bracket that
 * makes them tags.
 */
export function plainReply(text: string, grounds: readonly string[]): string {
  const stream = createReplyStream(grounds);
  return stream.push(text) + stream.end();
}

/** A reply made plain while it is being written: in all the same as `plainReply` of the whole, however it is cut. */
export function createReplyStream(grounds: readonly string[]): ReplyStream {
  // Images first: a link's words may be one.
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

/** Whether the grounds name an address. Looking for one takes a walk through all of them, so further ones are not named. */
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
  // Half a character cannot be told from an invisible one.
  const { done, rest } = cutAt(
    text,
    !last && /[\ud800-\udbff]/.test(text.at(-1) ?? '') ? text.length - 1 : text.length,
  );
  return { done: done.replaceAll(invisible, ''), rest };
};

/** There is none, or none as far as the text goes. */
const never = -1;
const notYet = -2;

/**
 * Finds where what began ends: the next mark on the same line, at most so many characters on. Has to be asked for growing
 * places; then it walks the text once, however often it is asked.
 */
function endFinder(text: string, mark: string, longest: number): (from: number) => number {
  const next = (character: string) => {
    let found = -1;
    return (from: number): number => {
      if (found < from) found = text.indexOf(character, from);
      if (found < 0) found = Infinity;
      return found;
    };
  };
  const [nextMark, nextLine] = [next(mark), next('\n')];
  return (from) => {
    const at = nextMark(from);
    const bound = Math.min(nextLine(from), from + longest + 1);
    if (at < bound) return at;
    return bound < text.length ? never : notYet;
  };
}

/** `opening` to `]`, and what may follow: `(target)`, of an image also `[reference]`, or nothing. */
function brackets(opening: '![' | '[', show: (words: string, target: string) => string): Stage {
  const image = opening === '![';
  return (text, last) => {
    const endOfWords = endFinder(text, ']', longestWords);
    const endOfTarget = endFinder(text, ')', longestTarget);
    const endOfReference = endFinder(text, ']', longestWords);
    let done = '';
    let from = 0;
    let at = text.indexOf(opening);
    while (at >= 0) {
      const words = endOfWords(at + opening.length);
      const follows = text[words + 1];
      let end = never;
      if (words < 0) end = words;
      else if (follows === '(') end = endOfTarget(words + 2);
      else if (follows === '[' && image) end = endOfReference(words + 2);
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
    // An exclamation mark may begin an image.
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

/** Word by word: addresses that are not named and schemes that do something go, what is left of images and links is undone. */
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
    // What is not whole, or not on one line, must not become an image or a link; nor what stands for an address.
    return { done: withoutImageMarks(shown.replaceAll(active, linkRemoved).replaceAll(address, checked)), rest };
  };
}

/** No exclamation mark before a bracket. */
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

/** Of ASCII, all that is seen. */
const isVisibleAscii = (code: number): boolean => code > 0x20 && code < 0x7f;

/**
 * How much of a text can be shown before the rest is known: not the last ASCII letters, which may become an address, nor a
 * word that is one already. Scripts without blanks are not held back.
 */
function settledLength(text: string): number {
  let letters = text.length;
  while (isVisibleAscii(text.charCodeAt(letters - 1))) letters -= 1;
  let word = letters;
  while (word > 0 && /\S/.test(text[word - 1]!)) word -= 1;
  return opensAddress.test(text.slice(word)) ? word : letters;
}
