/** Rules for what is typed into the box of a conversation. Pure. */

export type Insert = { from: number; to: number; word: string };

/** The word that follows `/` or `@` and ends at the caret; undefined when there is none. */
export function wordAt(sign: '/' | '@', body: string, caret: number): Insert | undefined {
  const found = new RegExp(`(?:^|\\s)${sign}([\\p{L}\\p{N}_-]*)$`, 'u').exec(body.slice(0, caret));
  return found ? { from: caret - found[1]!.length - 1, to: caret, word: found[1]! } : undefined;
}

/** The body with `text` in place of the word that `wordAt` found and its sign, and the new position of the caret. */
export function replaced(body: string, { from, to }: Insert, text: string): { body: string; caret: number } {
  return { body: body.slice(0, from) + text + body.slice(to), caret: from + text.length };
}

/** The ids of the members whose names follow an `@` in a note. */
export function mentionsIn(body: string, members: readonly { user_id: string; name: string }[]): string[] {
  return members.filter(({ name }) => name !== '' && body.includes(`@${name}`)).map(({ user_id }) => user_id);
}

/** The times at which a snooze may end, by name. */
export function snoozeTimes(now: Date): Record<'hour' | 'tomorrow' | 'week', Date> {
  const at9 = (days: number) => new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, 9);
  return {
    hour: new Date(now.getTime() + 3_600_000),
    tomorrow: at9(1),
    week: at9((8 - now.getDay()) % 7 || 7),
  };
}
