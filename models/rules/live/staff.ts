/** What members see of each other in the inbox. Pure. */

/** What a member does with a conversation now. */
export const doings = ['reading', 'writing', 'gone'] as const;
export type Doing = (typeof doings)[number];
