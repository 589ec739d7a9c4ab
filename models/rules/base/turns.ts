/** Fair order: nobody's many things come before another's single one. */

/** The same items, one of each owner in turn; of one owner in the order in which they came. */
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
