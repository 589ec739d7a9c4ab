/**
 * Puts items into round-robin order: one item of each owner in turn, so that an owner with many items does not delay
 * the other owners. Items of one owner keep their order.
 */
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
