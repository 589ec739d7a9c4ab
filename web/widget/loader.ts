/**
 * The script of the page's script tag (`/widget.js`, a classic script): it defines `window.SupportWidget` at once and
 * loads the other files from the same place. It must stay small, and must not touch anything else of the page.
 */
import type { start as startWidget, Widget } from './main.ts';

{
  /** The server fills this in: a hash of the files, so that browsers may cache them forever. */
  const version = '__VERSION__';
  const script = document.currentScript;
  // A second tag on the page gets the same widget.
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
    // Calls of the page before the files have loaded are executed once they have.
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
