/**
 * Keyboard shortcuts. Single letters do nothing while somebody types or a dialog is open, and can be switched off (WCAG
 * 2.1.4). The component that was rendered last gets a key first.
 */
import { signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { isComposing } from '../../live/keys.ts';
import { createStore } from '../../live/store.ts';

/** For screens, which do not import `web/live/`. */
export { isComposing };

/**
 * A function for each key, such as `j`, `Escape` or `Control+k`. When the function returns false, the browser handles
 * the key.
 */
export type Keys = Readonly<Record<string, (event: KeyboardEvent) => unknown>>;

const kept = createStore(() => localStorage, 'support-app:');
export const singleKeys = signal(kept.get('keys') !== 'off');
export function switchSingleKeys(on: boolean): void {
  kept.set('keys', on ? undefined : 'off');
  singleKeys.value = on;
}

const heard: Keys[] = [];
/** The key that was pressed last, if it is the first key of a pair such as `g i`; empty otherwise. */
let before = '';

export function useKeys(keys: Keys): void {
  // A layout effect runs before the browser paints, so a key works as soon as its component is visible.
  useLayoutEffect(() => {
    heard.unshift(keys);
    return () => void heard.splice(heard.indexOf(keys), 1);
  });
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

document.addEventListener('keydown', (event) => {
  const { key, ctrlKey, metaKey, altKey, target } = event;
  if (altKey || event.defaultPrevented || isComposing(event)) return;
  // While a dialog is open, shortcuts are off. The browser closes the dialog at Escape.
  if (document.querySelector('dialog[open]')) return;
  const held = ctrlKey || metaKey;
  const isSingle = !held && key.length === 1;
  if (isSingle && (!singleKeys.value || isTyping(target))) return;
  const name = held ? `Control+${key}` : before ? `${before} ${key}` : key;
  const found = heard.find((keys) => keys[name])?.[name];
  before =
    isSingle && !before && heard.some((keys) => Object.keys(keys).some((one) => one.startsWith(`${key} `))) ? key : '';
  if (!found || found(event) === false) return;
  before = '';
  event.preventDefault();
});
