/**
 * A form that is sent to the API. The server's error about a field is shown at the field, and the typed text is kept.
 */
import type { ComponentChildren } from 'preact';
import { useSignal } from '@preact/signals';
import { CallError } from '../../api/call.ts';
import { Wrong } from '../../parts/field.tsx';
import { said, toast } from '../../state/toast.ts';

type Given = {
  /** Sends the form. An error that it throws is shown. */
  send: (form: HTMLFormElement) => Promise<unknown>;
  /** The label of the submit button. */
  action: string;
  /** The message that is shown after success. */
  done?: string;
  children: ComponentChildren;
  /** Shown beside the submit button. */
  beside?: ComponentChildren;
};

export function Form({ send, action, done, children, beside }: Given) {
  const busy = useSignal(false);
  const failed = useSignal<unknown>(undefined);
  const details = failed.value instanceof CallError ? failed.value.details : [];
  const wrong = (field: string) =>
    details
      .filter(({ path = [] }) => path[1] === field)
      .map(({ message }) => message)
      .join(' ') || undefined;
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (busy.value) return;
    busy.value = true;
    try {
      await send(event.currentTarget as HTMLFormElement);
      failed.value = undefined;
      if (done) toast(done);
    } catch (error) {
      failed.value = error;
    }
    busy.value = false;
  };
  // A choice, for example of a language, may show other values than those that the error is about. Typing keeps the
  // error, because the submit button would move while it is pressed.
  const chosen = ({ target }: Event) => {
    if (target instanceof HTMLSelectElement) failed.value = undefined;
  };
  return (
    <form class="stack" onSubmit={(event) => void submit(event)} onChange={chosen}>
      <Wrong.Provider value={wrong}>{children}</Wrong.Provider>
      {failed.value !== undefined && (
        <p class="error" role="alert">
          {said(failed.value)}
        </p>
      )}
      <div class="line">
        <button type="submit" class="main" disabled={busy.value}>
          {action}
        </button>
        {beside}
      </div>
    </form>
  );
}
