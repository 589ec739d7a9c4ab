import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Browser } from 'puppeteer';
import { startChromium, visit } from '../kit/chromium.ts';
import { system } from '../kit/harness.ts';

const api = system();
const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
let browser: Browser;
beforeAll(async () => {
  browser = await startChromium(process.env['TEST_CHROMIUM']!);
});
afterAll(() => browser.close());

describe('GET /', () => {
  it.each([
    ['light', 390],
    ['dark', 390],
    ['light', 1280],
    ['dark', 1280],
  ])(
    'the start page in %s mode at %i pixels has no accessibility violation and does not scroll sideways',
    async (scheme, width) => {
      const { page, context } = await visit(browser, 'about:blank', { width, height: 800 });
      const complaints: string[] = [];
      page.on('console', (message) => complaints.push(message.text()));
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
      await page.goto(`${api.url}/`);
      await page.evaluate(await readFile(axe, 'utf8'));
      const faults =
        "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id }) => id))";
      expect(await page.evaluate(faults)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      // The style of the page is applied, so the content security policy allows it.
      expect(await page.evaluate('getComputedStyle(document.body).maxWidth')).toBe('800px');
      expect(complaints).toEqual([]);
      await context.close();
    },
  );
});

describe('GET /docs', () => {
  it('the API reference shows its groups of routes collapsed', async () => {
    const { page, context } = await visit(browser, `${api.url}/docs`, { width: 1280, height: 800 });
    await page.waitForSelector('.opblock-tag');
    expect(await page.evaluate("document.querySelectorAll('.opblock-tag').length > 10")).toBe(true);
    expect(await page.evaluate("document.querySelectorAll('.opblock').length")).toBe(0);
    await context.close();
  });
});
