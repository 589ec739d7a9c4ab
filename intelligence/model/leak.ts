/**
 * Detects a reply that repeats the model's instructions. Instructions are no answer to a customer, and a model that
 * recites them is following somebody else's. Pure; it compares words, not their meaning, so a translation passes. The
 * instructions contain no secret.
 */

/** This many equal words in a row are not a coincidence. */
const tellingWords = 8;
/** Text that is being written is held back only when at least this many words at its end match. */
const suspiciousWords = 3;
/** Eight words are rarely longer than this, in characters. */
const lookBack = 400;

export type LeakGuard = {
  /** How much of an unfinished reply may be shown; undefined when it repeats its instructions. */
  safeLength(text: string): number | undefined;
  /** Whether a complete reply repeats them. */
  leaks(text: string): boolean;
};

/** `nonce`: the value of the fences; a reply that contains it repeats a fence. */
export function createLeakGuard(instructions: string, nonce: string): LeakGuard {
  const wordsIn = (text: string) => [...text.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu)];
  const told = ` ${wordsIn(instructions)
    .map(([word]) => word)
    .join(' ')} `;
  /** How much of this reply was checked. A reply only grows, so a shorter text is a reply that began again. */
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
        // The last word may be incomplete.
        if (told.includes(` ${words.slice(-count).join(' ')}`)) return from + (found.at(-count)?.index ?? 0);
      }
      return text.length;
    },
    leaks: (text) => text.includes(nonce) || tellingIn(wordsIn(text).map(([word]) => word)),
  };
}
