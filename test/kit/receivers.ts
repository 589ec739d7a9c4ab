/** Webhook receivers that live as long as a test. */
import { afterEach } from '@jest/globals';
import { startReceiver, type Receiver } from './receiver.ts';

/** Starts receivers. Each is closed when the test that started it ends. */
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
