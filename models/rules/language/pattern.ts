/**
 * Parts of regular expressions. No pattern of this project has modifiers such as `(?i:…)`: in a process that has
 * compiled much code of regular expressions, V8 compiles the next ones without optimization, and then ignores the
 * modifier of a group with alternatives (seen with Node 24.21).
 */

/** A pattern that matches the text itself. */
export const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/gu, String.raw`\$&`);

/** A pattern that matches the letters of `source` in upper and lower case. `source` has neither classes nor escapes. */
export const inAnyCase = (source: string): string =>
  source.replaceAll(/\p{L}/gu, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`);
