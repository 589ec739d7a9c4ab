/**
 * What a reply may say to whoever shows it: text. Nothing in it is loaded, run or hidden behind other words, whatever a
 * source or a model wrote, and it names no address that its sources do not. Pure.
 */

/** Stands where an address was that no source names. */
export const linkRemoved = '[link removed]';

/** Control characters but tab and line break, what turns the direction of text around, and invisible "tag" characters. */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const invisible = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu;
const image = /!\[([^\]\n]{0,500})\](?:\([^)\n]{0,2000}\)|\[[^\]\n]{0,500}\])?/gu;
const link = /\[([^\]\n]{0,500})\]\(\s*([^)\s]{0,2000})[^)\n]{0,500}\)/gu;
const address = /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s<>"'‹›`]+|\bwww\.[^\s<>"'‹›`]+/giu;
/** Schemes that run, read or embed something; `data: 5 GB` is none. */
const active =
  /\b(?:(?:java|vb|live)script:\S+|data:[\w.+-]*[/;,]\S*|(?:file|blob|filesystem|view-source|jar):[/\w]\S*)/giu;
const afterAddress = /[.,;:!?)\]}…*_'"]+$/u;

/**
 * The reply as plain text. `grounds` are the texts that an address may come from: the sources, their own addresses, and the
 * customer's words. Images become their description, links their text and their address; tags lose the bracket that
 * makes them tags.
 */
export function plainReply(text: string, grounds: readonly string[]): string {
  const named = (url: string): boolean => {
    const plain = url.replace(/\/$/u, '');
    return grounds.some((ground) => ground.includes(plain));
  };
  const checked = (url: string): string => {
    const end = afterAddress.exec(url)?.[0] ?? '';
    const bare = url.slice(0, url.length - end.length);
    return (/^(?:https?:\/\/|www\.)/iu.test(bare) && named(bare) ? bare : linkRemoved) + end;
  };
  return (
    text
      .replaceAll(invisible, '')
      .replaceAll(image, '$1')
      .replaceAll(link, (_, words: string, target: string) => {
        const url = target.replace(/^<|>$/gu, '').replace(/^(?:mailto|tel):/iu, '');
        return url === words || url === '' || !named(url) ? words : `${words} (${url})`;
      })
      // What is left of images and links is not whole, or not on one line: it must not become one.
      .replaceAll('![', '[')
      .replaceAll('](', '] (')
      .replaceAll(/<(?=[a-z/!?])/giu, '‹')
      .replaceAll(active, linkRemoved)
      .replaceAll(address, checked)
  );
}

/** How far back an image or a link may begin that is not whole yet, in characters. */
const longestOpening = 600;

/**
 * How much of a reply that is still being written `plainReply` leaves as it is whatever follows: not the last word, which
 * may become an address, nor a bracket that is open.
 */
export function settledLength(text: string): number {
  const end = text.length - (/[\x21-\x7e]*$/u.exec(text)?.[0].length ?? 0);
  const from = Math.max(0, end - longestOpening);
  for (let at = text.indexOf('[', from); at >= 0 && at < end; at = text.indexOf('[', at + 1)) {
    const whole = /^\[[^\]\n]*(?:\n|\](?:\([^)\n]*[)\n]|\[[^\]\n]*[\]\n]|(?![([])))/u.test(text.slice(at, end));
    if (!whole) return text[at - 1] === '!' ? at - 1 : at;
  }
  // An exclamation mark may begin an image; of a character in two halves one is none.
  return /[!\ud800-\udbff]/.test(text[end - 1] ?? '') ? end - 1 : end;
}

export type ReplyStream = {
  /** What the piece makes ready to be shown; `void` says that what was shown before is not what it has become. */
  push(piece: string): { text: string; void: boolean };
  /** The rest. */
  end(): { text: string; void: boolean };
};

/** A reply made plain while it is being written. */
export function createReplyStream(grounds: readonly string[]): ReplyStream {
  let raw = '';
  let shown = '';
  function show(length: number): { text: string; void: boolean } {
    const plain = plainReply(raw.slice(0, length), grounds);
    const continues = plain.startsWith(shown);
    const text = continues ? plain.slice(shown.length) : plain;
    shown = plain;
    return { text, void: !continues };
  }
  return {
    push(piece) {
      raw += piece;
      return show(settledLength(raw));
    },
    end: () => show(raw.length),
  };
}
