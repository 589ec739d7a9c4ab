/** Limits of a page, in a separate file so that the parent process need not load the parsers. */

/** Maximum number of links taken from one page. */
export const maxPageLinks = 5_000;
