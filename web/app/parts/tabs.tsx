/** The tabs of a screen, each with an address of its own. */
import { Link, type To } from './link.tsx';

type Given = {
  label: string;
  tabs: readonly (readonly [to: To, name: string])[];
  current: string;
  follow: (event: MouseEvent) => void;
};

export const Tabs = ({ label, tabs, current, follow }: Given) => (
  <nav aria-label={label}>
    <ul class="boxes">
      {tabs.map(([to, name]) => (
        <li key={name}>
          <Link to={to} follow={follow} aria-current={to.id === current ? 'page' : undefined}>
            {name}
          </Link>
        </li>
      ))}
    </ul>
  </nav>
);
