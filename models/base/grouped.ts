/**
 * Batches calls of many callers, because one MongoDB command for many items costs little more than one for a single
 * item.
 */
import DataLoader from 'dataloader';

/**
 * Batches items for `work`. A batch has the items of one turn of the event loop, and those that arrive while `atOnce`
 * batches are in flight. `work` returns a result or an error for each item, in order. When `work` throws, all items of
 * the batch fail. `max` is the maximum size of a batch.
 */
export function grouped<T, R>(
  work: (items: readonly T[]) => Promise<readonly (R | Error)[]>,
  { atOnce, max }: { atOnce: number; max: number },
): (item: T) => Promise<R> {
  const waiting: (() => void)[] = [];
  let underWay = 0;
  const proceed = (): void => {
    while (underWay < atOnce && waiting.length > 0) {
      underWay += 1;
      waiting.shift()!();
    }
  };
  const loader = new DataLoader<T, R>(
    async (items) => {
      try {
        return await work(items);
      } finally {
        underWay -= 1;
        proceed();
      }
    },
    {
      cache: false,
      maxBatchSize: max,
      // `setImmediate` runs after the event loop has handled all readable sockets of this turn. So the items that their
      // requests cause join the batch.
      batchScheduleFn(close) {
        waiting.push(close);
        setImmediate(proceed);
      },
    },
  );
  return (item) => loader.load(item);
}
