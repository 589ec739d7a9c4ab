/** The key by which the owner of a team's events is found. */
export const linearExternal = (teamId: string): string => `team:${teamId}`;

/** Linear calls a deletion `remove`; this system's specification calls the same event `Issue.delete`. */
export const linearVerb = (action: string | undefined): string =>
  action === 'delete' ? 'remove' : (action ?? 'unknown');
