/** The colours of a team's tags, by name, so that every page can choose shades that can be read on it. Pure. */
export const tagColours = ['grey', 'red', 'orange', 'green', 'blue', 'purple'] as const;

/** The most tags that a team lists. */
export const maxTeamTags = 200;
