/** Short messages about what was done, or could not be. */
import { signal } from '@preact/signals';
import { CallError } from '../api/call.ts';
import { texts } from '../texts/texts.ts';

export type Toast = { id: number; text: string; failed: boolean };
export const toasts = signal<readonly Toast[]>([]);
const shownMs = 6_000;
let count = 0;

export function toast(text: string, failed = false): void {
  const one = { id: (count += 1), text, failed };
  toasts.value = [...toasts.value, one];
  setTimeout(() => dismiss(one.id), shownMs);
}

export const dismiss = (id: number): void => void (toasts.value = toasts.value.filter((one) => one.id !== id));

/** What went wrong, in words. */
export function said(error: unknown): string {
  if (!(error instanceof CallError)) return String(error);
  if (error.status === 0) return texts.value.unreachable;
  if (error.status === 429) return texts.value.slowDown(error.retryAfter);
  // The message mostly has the details in it.
  const others = error.details.filter(({ message }) => !error.message.includes(message));
  return [
    error.message,
    ...others.map(({ path = [], message }) => `${path.slice(1).join('.')} ${message}`.trim()),
  ].join(' ');
}

/** Runs an act of the member; what goes wrong is shown. Returns whether it went well. */
export async function attempt(act: () => Promise<unknown>, done?: string): Promise<boolean> {
  try {
    await act();
    if (done !== undefined) toast(done);
    return true;
  } catch (error) {
    // The sign-in that lies over the page says it.
    if (!(error instanceof CallError && error.code === 'UNAUTHENTICATED')) toast(said(error), true);
    return false;
  }
}
