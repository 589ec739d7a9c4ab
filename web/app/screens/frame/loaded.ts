/** Reading the data that a screen shows from the API. */
import { useEffect } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { mode, orgId } from '../../state/session.ts';
import { attempt, said } from '../../state/toast.ts';

type Read<T> = (signal: AbortSignal) => Promise<T>;

export type Loaded<T> = {
  /** Undefined until the data are read. */
  data: T | undefined;
  /** Why reading failed; empty otherwise. `data` keeps what was read before. */
  error: string;
  /** Reads the data again. */
  again: () => Promise<void>;
  /** Reads the data by another function. */
  readBy: (other: Read<T>) => Promise<void>;
  /** Whether a read has begun and has neither ended nor been aborted. */
  reading: () => boolean;
  /** Makes a change, shows its error or else `done`, and reads the data again. */
  act: (change: () => Promise<unknown>, done?: string) => Promise<void>;
  /** Replaces `data` with the server's response to a change. */
  put: (data: T) => void;
};

/**
 * Reads the data when the component is shown, and whenever the organization, the mode or one of `given` changes. The
 * response to an earlier read is ignored.
 */
export function useLoaded<T>(read: Read<T>, given: readonly (string | undefined)[] = []): Loaded<T> {
  const data = useSignal<T | undefined>(undefined);
  const error = useSignal('');
  const begun = useSignal<AbortController | undefined>(undefined);
  const readBy = async (by: Read<T>) => {
    begun.peek()?.abort();
    const mine = (begun.value = new AbortController());
    try {
      const found = await by(mine.signal);
      if (mine.signal.aborted) return;
      data.value = found;
      error.value = '';
    } catch (why) {
      if (!mine.signal.aborted) error.value = said(why);
    } finally {
      if (begun.peek() === mine) begun.value = undefined;
    }
  };
  const reading = () => begun.peek()?.signal.aborted === false;
  const again = () => readBy(read);
  useEffect(() => {
    data.value = undefined;
    void again();
    return () => begun.peek()?.abort();
  }, [orgId.value, mode.value, ...given]);
  const act = async (change: () => Promise<unknown>, done?: string) => {
    await attempt(change, done);
    await again();
  };
  return { data: data.value, error: error.value, again, readBy, reading, act, put: (found) => (data.value = found) };
}

/**
 * Returns a function that calls `act` unless its earlier call is pending. Each new read aborts the read before it, so
 * reads that are repeated faster than the server answers would never show anything.
 */
export function oneAtATime(act: () => Promise<void>): () => void {
  let pending = false;
  return () => {
    if (pending) return;
    pending = true;
    void act().finally(() => (pending = false));
  };
}

/** Calls `act` every `ms` milliseconds while `when` is true, but never while its earlier call is pending. */
export function useEvery(ms: number, when: boolean, act: () => Promise<void>): void {
  useEffect(() => {
    if (!when) return undefined;
    const timer = setInterval(oneAtATime(act), ms);
    return () => clearInterval(timer);
  }, [when]);
}
