/**
 * The colours of a team's tags. They are names without colour codes, so that each page chooses a shade that is readable
 * on its background. Pure.
 */
export const tagColours = ['grey', 'red', 'orange', 'green', 'blue', 'purple'] as const;

/** The maximum number of tags in a team's list. */
export const maxTeamTags = 200;
