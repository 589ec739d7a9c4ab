/** Short messages about what was done or what failed. */
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

/** The sentence that tells a member about an error. */
export function said(error: unknown): string {
  if (!(error instanceof CallError)) return String(error);
  if (error.status === 0) return texts.value.unreachable;
  if (error.status === 429) return texts.value.slowDown(error.retryAfter);
  // The message usually contains the details already.
  const others = error.details.filter(({ message }) => !error.message.includes(message));
  return [
    error.message,
    ...others.map(({ path = [], message }) => `${path.slice(1).join('.')} ${message}`.trim()),
  ].join(' ');
}

/** Runs an action of the member, and shows the error if it fails. Returns whether it succeeded. */
export async function attempt(act: () => Promise<unknown>, done?: string): Promise<boolean> {
  try {
    await act();
    if (done !== undefined) toast(done);
    return true;
  } catch (error) {
    // When the login has ended, the sign-in dialog appears over the page, so no message is needed.
    if (!(error instanceof CallError && error.code === 'UNAUTHENTICATED')) toast(said(error), true);
    return false;
  }
}
