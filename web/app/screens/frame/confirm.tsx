/** A dialog that asks for confirmation before an action that cannot be undone. */
import type { ComponentChildren } from 'preact';
import { Dialog } from '../../parts/dialog.tsx';
import { texts } from '../../texts/texts.ts';

type Given = {
  title: string;
  /** The label of the button that performs the action. */
  action: string;
  act: () => unknown;
  closed: () => void;
  children?: ComponentChildren;
};

export const Confirm = ({ title, action, act, closed, children }: Given) => (
  <Dialog title={title} closed={closed}>
    {children}
    <form method="dialog">
      <button type="submit">{texts.value.cancel}</button>
      <button type="submit" class="danger" onClick={() => void act()}>
        {action}
      </button>
    </form>
  </Dialog>
);
