/**
 * Detects a reply that repeats the model's instructions. A model that recites its instructions is following a prompt
 * injection. The comparison is lexical, so a translation passes; the instructions contain no secret. Pure.
 */

/** A reply repeats the instructions when it has this many of their words in a row. */
const tellingWords = 8;
/** While a reply is streamed, its end is held back when at least this many of its last words match the instructions. */
const suspiciousWords = 3;
/**
 * When a streamed reply grows, this many characters before the new ones are checked again, because a repetition may
 * begin there; eight words are rarely longer.
 */
const lookBack = 400;

export type LeakGuard = {
  /** How many characters of an unfinished reply may be shown; undefined when the reply repeats the instructions. */
  safeLength(text: string): number | undefined;
  /** Whether a complete reply repeats the instructions. */
  leaks(text: string): boolean;
};

/** `nonce`: the delimiter of the sources; a reply that contains it repeats the prompt. */
export function createLeakGuard(instructions: string, nonce: string): LeakGuard {
  const wordsIn = (text: string) => [...text.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu)];
  const told = ` ${wordsIn(instructions)
    .map(([word]) => word)
    .join(' ')} `;
  /**
   * The number of characters of this reply that were checked. A reply only grows, so a shorter text means that the
   * reply restarted.
   */
  let seen = 0;

  function tellingIn(words: readonly string[]): boolean {
    for (let at = 0; at + tellingWords <= words.length; at += 1) {
      if (told.includes(` ${words.slice(at, at + tellingWords).join(' ')} `)) return true;
    }
    return false;
  }

  return {
    safeLength(text) {
      const from = Math.max(0, Math.min(seen, text.length) - lookBack);
      seen = text.length;
      const found = wordsIn(text.slice(from));
      const words = found.map(([word]) => word);
      if (text.includes(nonce) || tellingIn(words)) return undefined;
      for (let count = Math.min(tellingWords - 1, words.length); count >= suspiciousWords; count -= 1) {
        // The last word may be incomplete, so the comparison does not require a blank after it.
        if (told.includes(` ${words.slice(-count).join(' ')}`)) return from + (found.at(-count)?.index ?? 0);
      }
      return text.length;
    },
    leaks: (text) => text.includes(nonce) || tellingIn(wordsIn(text).map(([word]) => word)),
  };
}
