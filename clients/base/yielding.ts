/** Long loops over what others wrote, without holding up whatever else the process does. */
import { setImmediate as breathe } from 'node:timers/promises';

/** In one go, in ms. */
const maxTurnMs = 5;

/** To be asked in each step of such a loop: lets other work have its turn when this one has had its time. */
export function createBreather(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < maxTurnMs) return undefined;
    return breathe().then(() => void (since = performance.now()));
  };
}
