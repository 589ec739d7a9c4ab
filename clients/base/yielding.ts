/** Lets a long loop over untrusted input yield to the event loop. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** A loop may block the event loop for this long, in milliseconds. */
const maxTurnMs = 5;

/**
 * Returns a function to await in each step of a long loop. That function returns undefined until the loop has run for
 * `maxTurnMs`; then it returns a promise that resolves after other work has run.
 */
export function createYielder(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < maxTurnMs) return undefined;
    return nextTurn().then(() => void (since = performance.now()));
  };
}
