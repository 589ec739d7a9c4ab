/** The maximum number of canned replies that one member has. An organization may have as many shared canned replies. */
export const maxCannedReplies = 500;
/** The maximum length of a shortcut, in characters. */
export const maxShortcutLength = 40;
