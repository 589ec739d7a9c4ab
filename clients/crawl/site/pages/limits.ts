/** This limit has its own file, so that the parent process need not load the parsers. */

export const maxPageLinks = 5_000;
