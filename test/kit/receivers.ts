/** Receivers of webhooks that live as long as a test. */
import { afterEach } from '@jest/globals';
import { startReceiver, type Receiver } from './receiver.ts';

/** Starts receivers; each is closed when the test ends that started it. */
export function receiversOfTest(): (...args: Parameters<typeof startReceiver>) => Promise<Receiver> {
  const open: Receiver[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((receiver) => receiver.close()));
  });
  return async (...args) => {
    const receiver = await startReceiver(...args);
    open.push(receiver);
    return receiver;
  };
}
