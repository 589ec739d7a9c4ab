/**
 * Navigation by keys: with `Ctrl K` a member types a screen or view to go to; `?` shows the keys; `g` and a letter go
 * to another screen.
 */
import { useSignal } from '@preact/signals';
import type { To } from './link.tsx';
import { Act } from '../../parts/act.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Tick } from '../../parts/field.tsx';
import { singleKeys, switchSingleKeys, useKeys } from '../../parts/keys.ts';
import { screens } from '../../rules/address.ts';
import { boxes } from '../../rules/inbox.ts';
import { go } from '../../state/route.ts';
import { texts } from '../../texts/texts.ts';

/** The keys, in the order in which the dialog shows them. */
const shownKeys = 'j k Enter / r n s a i e z t p Control+Enter Control+k ? g Escape'.split(' ');

export function Palette() {
  const t = texts.value;
  const open = useSignal<'commands' | 'keys' | undefined>(undefined);
  const typed = useSignal('');
  const closed = () => {
    open.value = undefined;
    typed.value = '';
  };
  useKeys({
    'Control+k': () => (open.value = 'commands'),
    '?': () => (open.value = 'keys'),
    'g i': () => go({ screen: 'inbox' }),
    'g k': () => go({ screen: 'knowledge' }),
    'g t': () => go({ screen: 'tools' }),
    'g d': () => go({ screen: 'deliveries' }),
    'g s': () => go({ screen: 'settings' }),
  });
  const commands: { name: string; to: To }[] = [
    ...screens.map((screen) => ({ name: t.screens[screen]!, to: { screen } })),
    ...boxes.map((box) => ({
      name: `${t.screens['inbox']}: ${t.boxes[box]}`,
      to: { screen: 'inbox' as const, filters: { box } },
    })),
  ];
  const fitting = commands.filter(({ name }) => name.toLowerCase().includes(typed.value.toLowerCase()));
  const run = (to: To) => {
    closed();
    go(to);
  };
  const does: Record<string, string> = {
    ...t.nextKeys,
    '/': t.search,
    n: t.note,
    s: t.suggest,
    a: t.assign,
    z: t.snooze,
    t: t.tags,
    p: t.priority,
    'Control+Enter': t.send,
  };
  if (open.value === 'keys')
    return (
      <Dialog title={t.keys} closed={closed}>
        <dl class="keys">
          {shownKeys.map((key) => (
            <div key={key}>
              <dt>
                <kbd>{key.replace('Control+', 'Ctrl ')}</kbd>
              </dt>
              <dd>{does[key]}</dd>
            </div>
          ))}
        </dl>
        <Tick label={t.singleKeys} checked={singleKeys.value} change={switchSingleKeys} />
        <form method="dialog">
          <button type="submit">{t.close}</button>
        </form>
      </Dialog>
    );
  if (open.value === undefined) return null;
  return (
    <Dialog title={t.commands} closed={closed}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (fitting[0]) run(fitting[0].to);
        }}
      >
        <input
          type="text"
          aria-label={t.commands}
          value={typed.value}
          onInput={({ currentTarget }) => (typed.value = currentTarget.value)}
        />
      </form>
      <ul class="told">
        {fitting.map(({ name, to }) => (
          <li key={name}>
            <Act name={name} act={() => run(to)} />
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
