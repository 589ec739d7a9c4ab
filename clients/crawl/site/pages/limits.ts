/**
 * Limits of a page, for both sides of a page process: the side that asks must not load the parsers of the other one.
 */

/** The most links taken from one page. */
export const maxPageLinks = 5_000;
