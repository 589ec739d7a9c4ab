/** A link to another address of this page (`/app/…`), which does not load the page again. */
import type { ComponentChildren } from 'preact';
import { addressOf, type Address, type Screen } from '../rules/address.ts';

export type To = Partial<Address> & { screen: Screen };
type Given = { to: To; follow: (event: MouseEvent) => void; children: ComponentChildren; [attribute: string]: unknown };

export const Link = ({ to, follow, children, ...more }: Given) => (
  <a href={addressOf(to)} onClick={follow} {...more}>
    {children}
  </a>
);
