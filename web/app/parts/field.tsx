/** A labelled form control, with the server's error about its value. */
import type { ComponentChildren } from 'preact';

type Given = { label: string; error?: string | undefined; hint?: string; children: ComponentChildren };

export const Field = ({ label, error, hint, children }: Given) => (
  <label class="field">
    <span>{label}</span>
    {children}
    {hint && <small>{hint}</small>}
    {error && (
      <strong class="error" role="alert">
        {error}
      </strong>
    )}
  </label>
);

/** The text in a field of a form, by the field's name; empty for a field that is no text. */
export function textOf(form: HTMLFormElement, name: string): string {
  const text = new FormData(form).get(name);
  return typeof text === 'string' ? text : '';
}
