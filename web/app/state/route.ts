/** Where the page is: its address, which is also where filters stand, so that every view can be linked. */
import { computed, signal } from '@preact/signals';
import { addressOf, readAddress, type Address, type Screen } from '../rules/address.ts';

const here = signal(readAddress(location.pathname, location.search));
export const address = computed(() => here.value);

/** Goes to another address. With `replace`, the browser's way back leads past the present one. */
export function go(to: Partial<Address> & { screen: Screen }, { replace = false } = {}): void {
  const path = addressOf(to);
  if (path === location.pathname + location.search) return;
  if (replace) history.replaceState(null, '', path);
  else history.pushState(null, '', path);
  here.value = readAddress(location.pathname, location.search);
}

/** Follows a link of the page without loading the page anew. */
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
