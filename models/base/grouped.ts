/** What many callers ask of MongoDB one by one, done together: a command for many costs little more than one for a single one. */
import DataLoader from 'dataloader';

/**
 * Has `work` done for many items at once: for those that come in one turn of the event loop, and for those that come while
 * `atOnce` groups are under way, which wait for the first of them to end. `work` gives a result or an error for each item, in
 * their order; when it throws, that is the error of all of them. `max` bounds a group.
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
      // A group is closed after every socket that was readable in this turn has been read, not after the first.
      batchScheduleFn(close) {
        waiting.push(close);
        setImmediate(proceed);
      },
    },
  );
  return (item) => loader.load(item);
}
