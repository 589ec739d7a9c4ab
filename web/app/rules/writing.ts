/** Rules for the text in the box of a conversation. */

export type Insert = { from: number; to: number; word: string };

/** The word that follows `/` or `@` and ends at the caret; undefined when there is none. */
export function wordAt(sign: '/' | '@', body: string, caret: number): Insert | undefined {
  const found = new RegExp(`(?:^|\\s)${sign}([\\p{L}\\p{N}_-]*)$`, 'u').exec(body.slice(0, caret));
  return found ? { from: caret - found[1]!.length - 1, to: caret, word: found[1]! } : undefined;
}

/**
 * Replaces the word that `wordAt` found, and the sign before it, by `text`. Returns the new body and the new position
 * of the caret.
 */
export function replaced(body: string, { from, to }: Insert, text: string): { body: string; caret: number } {
  return { body: body.slice(0, from) + text + body.slice(to), caret: from + text.length };
}

/**
 * The ids of the members whose names follow an `@` in a note. A name may begin with another name, so longer names are
 * searched first, and each found name is removed from the searched text.
 */
export function mentionsIn(body: string, members: readonly { user_id: string; name: string }[]): string[] {
  const names = [...new Set(members.map(({ name }) => name))].filter((name) => name !== '');
  const mentioned = new Set<string>();
  let rest = body;
  for (const name of names.toSorted((one, other) => other.length - one.length)) {
    const without = rest.replaceAll(`@${name}`, ' ');
    if (without !== rest) mentioned.add(name);
    rest = without;
  }
  return members.filter(({ name }) => mentioned.has(name)).map(({ user_id }) => user_id);
}

/**
 * The most characters of an article's title. The limit leaves room for an extension, because the article's file name is
 * made from the title.
 */
export const longestTitle = 190;

/** The title that an article gets at first when it answers a question: one line of the question. */
export const titleOf = (question: string): string => question.replace(/\s+/g, ' ').slice(0, longestTitle);

/** The times at which a snooze may end, by name. */
export function snoozeTimes(now: Date): Record<'hour' | 'tomorrow' | 'week', Date> {
  const at9 = (days: number) => new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, 9);
  return {
    hour: new Date(now.getTime() + 3_600_000),
    tomorrow: at9(1),
    week: at9((8 - now.getDay()) % 7 || 7),
  };
}
