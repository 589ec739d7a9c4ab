/**
 * Serves the page `/app` on which a support team works. The page is public and the same for everybody: a cookie holds
 * the login, and the API supplies all data.
 */
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Router } from '@koa/router';
import type { Plugin } from 'esbuild';
import { fileOf, forever, javascript, readWeb, send, sendPage, type WebFile } from './webfiles.ts';
import type { Operation } from '../base/contract/operation.ts';
import { Problem } from '../../models/rules/base/errors.ts';

/**
 * The content security policy. It stops scripts from turning text into HTML, because that needs a Trusted Types policy
 * and the page may create none.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' blob: data:",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const folder = fileURLToPath(new URL('../../web/app/', import.meta.url));

/**
 * Reduces the contract modules in the bundle to the method and path (`head`) of each operation. Schemas stay on the
 * server: a page that imports a schema cannot be bundled.
 */
const operations: Plugin = {
  name: 'operations',
  setup(build) {
    build.onLoad({ filter: /[/\\]contract[/\\]\w+\.ts$/ }, async ({ path }) => {
      const contract = Object.entries((await import(pathToFileURL(path).href)) as Record<string, Partial<Operation>>);
      const contents = contract.flatMap(([name, { head }]) =>
        head ? [`export const ${name} = ${JSON.stringify({ head })};`] : [],
      );
      return { contents: contents.join('\n'), loader: 'js' };
    });
  },
};

export type AppPage = { page: string; files: Map<string, WebFile> };

/**
 * Bundles the page's styles and scripts. This takes a few tenths of a second, so a process does it at the first
 * request.
 */
export async function buildApp(): Promise<AppPage> {
  // The bundler is loaded here because most processes never build the page.
  const { build, stop } = await import('esbuild');
  const styles = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.css'));
  const { outputFiles } = await build({
    stdin: {
      contents: styles
        .toSorted()
        .map((name) => `@import './${name}';`)
        .join('\n'),
      loader: 'css',
      resolveDir: folder,
    },
    bundle: true,
    minify: true,
    write: false,
    logLevel: 'error',
  });
  const { outputFiles: scripts } = await build({
    entryPoints: [join(folder, 'main.tsx')],
    plugins: [operations],
    outdir: folder,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    target: 'es2023',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    write: false,
    logLevel: 'error',
  });
  await stop();
  const style = fileOf('text/css; charset=utf-8', outputFiles[0]!.text);
  const styleName = `style-${style.etag.slice(1, 9)}.css`;
  const modules = scripts.map(({ path, text }) => [basename(path), fileOf(javascript, text)] as const);
  const main = modules.find(([name]) => name.startsWith('main-'))![0];
  const page = readWeb('app/page.html').replace('__STYLE__', styleName).replace('__MAIN__', main);
  return { page, files: new Map([[styleName, style], ...modules]) };
}

export function mountAppPage(router: Router): void {
  let building: Promise<AppPage> | undefined;
  const built = (): Promise<AppPage> =>
    (building ??= buildApp().catch((error: unknown) => {
      // After a failed build, the next request builds the page again.
      building = undefined;
      throw error;
    }));
  router.get('/app/files/:name', async (koa) => {
    const file = (await built()).files.get(String(koa['params'].name));
    if (!file) throw new Problem('NOT_FOUND', { message: 'The page has no such file; load it again.' });
    send(koa, file, forever);
  });
  router.get('/app{/*path}', async (koa) => sendPage(koa, (await built()).page, policy));
}
