/** Fair order: many items of one owner do not delay the single item of another. */

/** The items in a fair order: one of each owner in turn, and those of one owner in their order. */
export function inTurns<T>(items: readonly T[], ownerOf: (item: T) => string): T[] {
  const turns: T[][] = [];
  const had = new Map<string, number>();
  for (const item of items) {
    const turn = had.get(ownerOf(item)) ?? 0;
    had.set(ownerOf(item), turn + 1);
    (turns[turn] ??= []).push(item);
  }
  return turns.flat();
}
