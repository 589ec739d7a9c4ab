/**
 * The script of the page's script tag (`/widget.js`, a classic script). It defines `window.SupportWidget` at once and
 * loads the other files from the same server. It must stay small and change nothing else on the page.
 */
import type { start as startWidget, Widget } from './main.ts';

{
  /** The server replaces this by a hash of the files, so that browsers may cache the files forever. */
  const version = '__VERSION__';
  const script = document.currentScript;
  // A second script tag on the page gets the same widget.
  if (script instanceof HTMLScriptElement && !('SupportWidget' in window)) {
    const base = new URL('.', script.src).href;
    const settings = Object.fromEntries(Object.entries(script.dataset));
    const main = `${base}widget/${version}/main.ts`;
    const module: Promise<{ start: typeof startWidget }> = import(main);
    const ready = module.then(async ({ start }) => {
      if (document.readyState === 'loading') {
        await new Promise((resolve) => document.addEventListener('DOMContentLoaded', resolve, { once: true }));
      }
      return start(base, settings, () => {
        Reflect.deleteProperty(window, 'SupportWidget');
      });
    });
    // Calls from the page are queued until the files have loaded.
    const api = {
      open: () => ready.then((widget) => widget.open()),
      close: () => ready.then((widget) => widget.close()),
      destroy: () => ready.then((widget) => widget.destroy()),
      identify: (identity: Parameters<Widget['identify']>[0]) => ready.then((widget) => widget.identify(identity)),
      stepUp: (pendingId: string, token: string) => ready.then((widget) => widget.stepUp(pendingId, token)),
      update: (context: Record<string, unknown>) => ready.then((widget) => widget.update(context)),
    };
    Object.defineProperty(window, 'SupportWidget', { value: Object.freeze(api), configurable: true });
    void ready.then(() => window.dispatchEvent(new Event('supportwidget:ready')));
  }
}
