/**
 * Stops the process in which it runs, a program under test, at a chosen write. FAULT_SIGNAL is the signal: SIGKILL by
 * default, or SIGSTOP to pause the process until it is continued. It is sent at the first such write, or after
 * FAULT_AFTER of them. With FAULT_OF (ids or other texts, separated by commas) only writes with one of them count. With
 * FAULT_SIGNAL=sleep only the activity that writes is paused, without heartbeats, until the parent sends `wake`.
 * Temporal then considers the activity dead, while the process keeps polling. With SIGSTOP, by contrast, the pollers of
 * the process receive tasks and lose them for a minute.
 */
import { Context } from '@temporalio/activity';

type Write = (...args: unknown[]) => Promise<unknown>;
type Collection = Record<'insertOne' | 'insertMany' | 'updateOne' | 'bulkWrite' | 'findOneAndUpdate', Write>;

/** Stops the process or the activity. It tells the parent process first, because a stopped process sends nothing. */
async function fall(): Promise<void> {
  await new Promise<void>((resolve) => {
    if (process.send) process.send({ type: 'fallen' }, undefined, undefined, () => resolve());
    else resolve();
  });
  const signal = process.env['FAULT_SIGNAL'] ?? 'SIGKILL';
  if (signal !== 'sleep') {
    process.kill(process.pid, signal);
    return;
  }
  Object.assign(Context.current(), { heartbeat: () => undefined });
  // After a disconnect nothing can wake this process.
  process.on('disconnect', () => process.exit(1));
  await new Promise<void>((resolve) => {
    process.on('message', (message: { type?: string }) => {
      if (message.type === 'wake') resolve();
    });
  });
}

/** Calls `fall` once, before or after a write whose arguments contain this text as JSON. */
export function interrupt(collection: unknown, command: keyof Collection, has: string, when: 'before' | 'after'): void {
  const target = collection as Collection;
  const write = target[command].bind(target);
  let left = Number(process.env['FAULT_AFTER'] ?? 0);
  const ids = process.env['FAULT_OF']?.split(',');
  const isIt = (text: string): boolean => text.includes(has) && (ids?.some((id) => text.includes(id)) ?? true);
  target[command] = async (...args) => {
    const hit = left >= 0 && isIt(JSON.stringify(args)) && left-- === 0;
    if (hit && when === 'before') await fall();
    try {
      return await write(...args);
    } finally {
      if (hit && when === 'after') await fall();
    }
  };
}
