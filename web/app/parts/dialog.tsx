/** A modal dialog: the browser keeps the focus inside it, and returns the focus when the dialog closes. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

type Given = { title: string; closed: () => void; children: ComponentChildren; wide?: boolean };

export function Dialog({ title, closed, children, wide = false }: Given) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => ref.current?.showModal(), []);
  return (
    <dialog ref={ref} aria-label={title} class={wide ? 'wide' : ''} onClose={closed}>
      <h2>{title}</h2>
      {children}
    </dialog>
  );
}
