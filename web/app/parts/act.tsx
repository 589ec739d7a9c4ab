type Given = {
  name: string;
  /** What the action is about, where several buttons have the same name. Only screen readers announce this text. */
  of?: string | undefined;
  kind?: 'main' | 'danger' | 'plain';
  act: () => unknown;
};

export const Act = ({ name, of, kind, act }: Given) => (
  <button type="button" class={kind} onClick={() => void act()}>
    {name}
    {of && <span class="hidden"> {of}</span>}
  </button>
);
