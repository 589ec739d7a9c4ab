/** Bounds of canned replies. Pure. */

/** The most of a member's own ones, and of shared ones. */
export const maxCannedReplies = 500;
/** In characters. */
export const maxShortcutLength = 40;
