/** The current time, to which shown times are relative. */
import { signal } from '@preact/signals';

/**
 * The time at the start of the page or at the last change. A component that reads it is rendered again every minute.
 * Browsers delay the timers of a page in the background, so it also changes when the page becomes visible.
 */
export const minute = signal(new Date());
const set = (): void => void (minute.value = new Date());
setInterval(set, 60_000);
document.addEventListener('visibilitychange', set);
