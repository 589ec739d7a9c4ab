/** Asks once more before something is done that cannot be taken back. */
import type { ComponentChildren } from 'preact';
import { Dialog } from './dialog.tsx';

type Given = {
  title: string;
  /** The words of the buttons: to do it, and not to. */
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
