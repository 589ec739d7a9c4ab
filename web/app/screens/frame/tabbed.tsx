/** A screen with tabs, each with an address of its own. */
import type { ComponentChildren, ComponentType } from 'preact';
import { Link } from './link.tsx';
import type { Screen } from '../../rules/address.ts';
import { address } from '../../state/route.ts';
import { texts } from '../../texts/texts.ts';

type Given = {
  screen: Screen;
  /** What each tab shows, by its id in the address. The first tab is open when the address names no tab. */
  tabs: Readonly<Record<string, ComponentType>>;
  names: Readonly<Record<string, string>>;
  /** Shown in place of the open tab. */
  children?: ComponentChildren;
};

export function Tabbed({ screen, tabs, names, children }: Given) {
  const title = texts.value.screens[screen]!;
  const { id } = address.value;
  const open = Object.hasOwn(tabs, id) ? id : Object.keys(tabs)[0]!;
  const Tab = tabs[open]!;
  return (
    <main class="page">
      <h1>{title}</h1>
      <nav aria-label={title}>
        <ul class="boxes">
          {Object.entries(names).map(([tab, name]) => (
            <li key={tab}>
              <Link to={{ screen, id: tab }} aria-current={tab === open ? 'page' : undefined}>
                {name}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      {children ?? <Tab />}
    </main>
  );
}
