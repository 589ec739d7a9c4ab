/**
 * Ends the process it runs in, a program under test, at a chosen write: by FAULT_SIGNAL (SIGKILL unless told; SIGSTOP has it
 * stand still until it is told to go on) the first time the write is met, or after FAULT_AFTER such writes. With FAULT_OF
 * (ids, separated by commas) only writes that name one of them count, so that the work of others is done meanwhile. With
 * FAULT_SIGNAL=sleep only the activity that is writing stands still, without a heartbeat, until the parent sends `wake`: it is
 * believed dead as that of a stopped process is, whose pollers would swallow work for a minute.
 */
import { Context } from '@temporalio/activity';

type Write = (...args: unknown[]) => Promise<unknown>;
type Collection = Record<'insertOne' | 'insertMany' | 'updateOne' | 'bulkWrite' | 'findOneAndUpdate', Write>;

/** The parent is told first, because a frozen process cannot tell. */
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
  // After this nothing wakes it.
  process.on('disconnect', () => process.exit(1));
  await new Promise<void>((resolve) => {
    process.on('message', (message: { type?: string }) => {
      if (message.type === 'wake') resolve();
    });
  });
}

/** Comes to a point once: before or after a write whose arguments, as JSON, have this in them. */
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
