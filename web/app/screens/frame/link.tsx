/** A link to another address of this page (`/app/…`), which does not load the page again. */
import type { ComponentChildren } from 'preact';
import { addressOf, type Address, type Screen } from '../../rules/address.ts';
import { follow } from '../../state/route.ts';

export type To = Partial<Address> & { screen: Screen };
type Given = { to: To; children: ComponentChildren; [attribute: string]: unknown };

export const Link = ({ to, children, ...more }: Given) => (
  <a href={addressOf(to)} onClick={follow} {...more}>
    {children}
  </a>
);
