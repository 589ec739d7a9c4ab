/** Bounds of canned replies. Pure. */

/** The maximum number of a member's own canned replies, and of the shared ones. */
export const maxCannedReplies = 500;
/** The maximum length of a shortcut, in characters. */
export const maxShortcutLength = 40;
