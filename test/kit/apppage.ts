/** The page `/app` in tests: opened in a browser of its own, signed in, and examined. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'puppeteer';
import { visit } from './chromium.ts';
import { until, type TestUser } from './harness.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export type AppPage = ReturnType<typeof appOn>;

function appOn(page: Page) {
  /** Errors of the page's own scripts, and what its content security policy refused. */
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    if (/Content Security Policy|TrustedType|TrustedHTML/.test(message.text())) faults.push(message.text());
  });
  const text = async (): Promise<string> => (await page.evaluate('document.body.innerText')) as string;
  return {
    page,
    faults,
    text,
    /** Waits until the page shows these words. */
    shows: (words: string) =>
      until(async () => (await text()).includes(words), `the page to show ${JSON.stringify(words)}`),
    lacks: (words: string) =>
      until(async () => !(await text()).includes(words), `the page to hide ${JSON.stringify(words)}`),
    /** Presses keys one after the other, each given by its name. */
    async press(...keys: string[]): Promise<void> {
      for (const key of keys) await page.keyboard.press(key as 'Enter');
    },
    type: (words: string) => page.keyboard.type(words),
    /**
     * Moves the focus to a control with the Tab key, as somebody without a mouse does. `name`: the start of the
     * control's accessible name or label.
     */
    async tabTo(name: string): Promise<void> {
      for (let steps = 0; steps < 120; steps += 1) {
        await page.keyboard.press('Tab');
        const focused = (await page.evaluate(`(() => {
          const element = document.activeElement;
          const label = element?.labels?.[0]?.innerText ?? '';
          return element?.getAttribute('aria-label') ?? (label || element?.innerText) ?? '';
        })()`)) as string;
        if (focused.trim().startsWith(name)) return;
      }
      throw new Error(`Tab leads to no ${name}.`);
    },
    /** Loads another path of the page. */
    open: (path: string) => page.goto(new URL(path, page.url()).href),
    /**
     * The accessibility faults that axe finds in the page as it is, in light and dark, at the widths of a screen and a
     * phone.
     */
    async violations(): Promise<string[]> {
      const found: string[] = [];
      await page.evaluate(axe);
      for (const scheme of ['light', 'dark'])
        for (const width of [1280, 390]) {
          await page.setViewport({ width, height: 800 });
          await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
          const ids = (await page.evaluate(
            "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 160)).join(' | ')))",
          )) as string[];
          found.push(...ids.map((id) => `${scheme} ${width}: ${id}`));
        }
      await page.setViewport({ width: 1280, height: 800 });
      return found;
    },
  };
}

/** Opens `/app` as a person and signs in by its form. */
export async function openApp(browser: Browser, url: string, { email, password }: TestUser): Promise<AppPage> {
  const { page } = await visit(browser, `${url}/app`, { width: 1280, height: 800 });
  const app = appOn(page);
  await page.waitForSelector('input[name=email]');
  await page.focus('input[name=email]');
  await app.type(email);
  await app.press('Tab');
  await app.type(password);
  await app.press('Enter');
  await page.waitForSelector('nav.rail');
  return app;
}
