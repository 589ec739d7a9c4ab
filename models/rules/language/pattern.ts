/**
 * Parts of regular expressions. No pattern of this project has modifiers such as `(?i:…)`, because V8, when it compiles
 * a pattern without optimization, ignores the modifier of a group with alternatives (decision 178).
 */

/** A pattern that matches the text itself. */
export const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/gu, String.raw`\$&`);

/** A pattern that matches the letters of `source` in upper and lower case. `source` has neither classes nor escapes. */
export const inAnyCase = (source: string): string =>
  source.replaceAll(/\p{L}/gu, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`);
