/** A modal dialog: the browser keeps the focus inside it, and returns the focus when the dialog closes. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

type Given = { title: string; closed: () => void; children: ComponentChildren };

export function Dialog({ title, closed, children }: Given) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => ref.current?.showModal(), []);
  return (
    <dialog ref={ref} aria-label={title} onClose={closed}>
      <h2>{title}</h2>
      {children}
    </dialog>
  );
}
