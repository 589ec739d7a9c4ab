/** Lets a long loop over untrusted input yield to the event loop. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long a loop may hold the event loop without a pause, in milliseconds. */
const maxTurnMs = 5;

/**
 * A function to await in every step of a long loop. It returns undefined until the loop has run for `maxTurnMs`; then
 * it returns a promise that resolves after other work has run.
 */
export function createYielder(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < maxTurnMs) return undefined;
    return nextTurn().then(() => void (since = performance.now()));
  };
}
