/**
 * Writes superscripts in plain text. Without this, a footnote mark becomes part of the number before it: `49` with the
 * mark `1` becomes 491.
 */
const raisedDigits = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/**
 * The text of a superscript, with Unicode superscripts for the digits before its first letter: `m²`, `9⁹⁹ €`, `49¹`.
 * Later digits stay, because a text with words is small print, whose numbers are read as such.
 */
export const raise = (text: string): string =>
  text.replace(/^[^\p{L}]+/u, (marks) => marks.replace(/\d/g, (digit) => raisedDigits[Number(digit)]!));
