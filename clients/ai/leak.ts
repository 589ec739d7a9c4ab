/**
 * Whether a reply repeats its instructions: what a model was told is no answer to a customer, and a model that recites it
 * follows somebody else. Pure; it knows the words, not their meaning, so a translation passes. Nothing secret is told.
 */

/** This many words in a row that agree are no coincidence. */
const tellingWords = 8;
/** Fewer than these at the end of what is being written are no reason to hold it back. */
const suspiciousWords = 3;
/** Eight words are rarely longer, in characters. */
const lookBack = 400;

export type LeakGuard = {
  /** How much of a reply that is still being written may be shown; undefined when it repeats its instructions. */
  safeLength(text: string): number | undefined;
  /** Whether a whole reply repeats them. */
  leaks(text: string): boolean;
};

/** `nonce`: the fences' value; a reply that has it repeats a fence. */
export function createLeakGuard(instructions: string, nonce: string): LeakGuard {
  const wordsIn = (text: string) => [...text.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu)];
  const told = ` ${wordsIn(instructions)
    .map(([word]) => word)
    .join(' ')} `;
  /** How much of this reply was checked. A reply only grows; one that starts again is shorter. */
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
        // The last word may not be whole.
        if (told.includes(` ${words.slice(-count).join(' ')}`)) return from + (found.at(-count)?.index ?? 0);
      }
      return text.length;
    },
    leaks: (text) => text.includes(nonce) || tellingIn(wordsIn(text).map(([word]) => word)),
  };
}
