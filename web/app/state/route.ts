/** The page's current address. It includes the filters, so that every view can be linked. */
import { computed, signal } from '@preact/signals';
import { addressOf, readAddress, type Address, type Screen } from '../rules/address.ts';

const here = signal(readAddress(location.pathname, location.search));
export const address = computed(() => here.value);

/**
 * Goes to another address. `replace`: takes the place of the current address in the browser's history, so that going
 * back skips it.
 */
export function go(to: Partial<Address> & { screen: Screen }, { replace = false } = {}): void {
  const path = addressOf(to);
  if (path === location.pathname + location.search) return;
  if (replace) history.replaceState(null, '', path);
  else history.pushState(null, '', path);
  here.value = readAddress(location.pathname, location.search);
}

/** Follows a link of the page without loading the page again. */
export function follow(event: MouseEvent): void {
  const { ctrlKey, metaKey, shiftKey, button, currentTarget } = event;
  if (ctrlKey || metaKey || shiftKey || button !== 0) return;
  event.preventDefault();
  const { pathname, search } = new URL((currentTarget as HTMLAnchorElement).href);
  go(readAddress(pathname, search));
}

window.addEventListener('popstate', () => {
  here.value = readAddress(location.pathname, location.search);
});
