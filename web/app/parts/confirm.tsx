/** A dialog that asks for confirmation before an action that cannot be undone. */
import type { ComponentChildren } from 'preact';
import { Dialog } from './dialog.tsx';

type Given = {
  title: string;
  /** The labels of two buttons: the one that performs the action, and the one that cancels it. */
  action: string;
  cancel: string;
  act: () => void;
  closed: () => void;
  children?: ComponentChildren;
};

export const Confirm = ({ title, action, cancel, act, closed, children }: Given) => (
  <Dialog title={title} closed={closed}>
    {children}
    <form method="dialog">
      <button type="submit">{cancel}</button>
      <button type="submit" class="danger" onClick={act}>
        {action}
      </button>
    </form>
  </Dialog>
);
