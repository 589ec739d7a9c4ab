/**
 * Serves the pages and files of web/ to browsers, each file with an ETag of its content. `mountModules` serves
 * TypeScript with its types stripped and not bundled. The files are public and contain no data of customers.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { gzipSync } from 'node:zlib';
import type { Router } from '@koa/router';
import type Koa from 'koa';
import { onDemand } from './ondemand.ts';
import { noSuch } from '../../models/rules/base/errors.ts';

export type WebFile = { type: string; body: Buffer; gzip: Buffer; etag: string };
export type WebModules = {
  /** Hexadecimal hash of all files; it changes when any file changes. */
  version: string;
  /** The source texts, by file name, such as `main.ts`. */
  sources: Map<string, string>;
};

const web = new URL('../../web/', import.meta.url);
export const javascript = 'text/javascript; charset=utf-8';
/** The `Cache-Control` header of files whose URL contains their version. */
export const forever = 'public, max-age=31536000, immutable';
/**
 * The `Cache-Control` header of files that refer to versioned URLs. Pages may load the previous version for this long
 * after an update.
 */
export const briefly = 'public, max-age=300';

export function fileOf(type: string, text: string): WebFile {
  const body = Buffer.from(text);
  return { type, body, gzip: gzipSync(body, { level: 9 }), etag: `"${digest(text)}"` };
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 20);

export const readWeb = (path: string): string => readFileSync(new URL(path, web), 'utf8');

/**
 * The modules of a folder of web/ together with those of web/live/, which the pages share. Browsers see them as one
 * folder. The first call in a process takes 100 ms, mostly to load the TypeScript parser.
 */
export function readModules(folder: string): WebModules {
  const paths = [folder, 'live'].flatMap((name) =>
    readdirSync(new URL(`${name}/`, web))
      .filter((file) => file.endsWith('.ts'))
      .map((file) => [file, `${name}/${file}`] as const),
  );
  const read = (path: string): string => served(stripTypeScriptTypes(readWeb(path))).replaceAll("'../live/", "'./");
  const sources = new Map(
    paths.toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([name, path]) => [name, read(path)]),
  );
  return { version: digest(JSON.stringify([...sources])), sources };
}

/** Removes comments that take whole lines, and blanks at the ends of lines. */
const served = (source: string): string =>
  source
    .replaceAll(/^ *\/\*\*[\s\S]*?\*\/$/gm, '')
    .replaceAll(/^ *\/\/.*$/gm, '')
    .replaceAll(/[ \t]+$/gm, '');

/**
 * The content security policy of a page that uses its own scripts, styles and connections, and that no other page may
 * show.
 */
const ownPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

type Page = {
  /** The folder in web/ that has the page with its style and its modules. */
  folder: string;
  path: string;
  /**
   * If it returns false, the page is sent with the status 404. The page itself tells people that nothing was found, and
   * the status tells programs.
   */
  exists?: (params: Record<string, string>) => Promise<boolean>;
};

/** Serves a page, its style and its modules. The page is the same for all parameters of the path. */
export function mountPage(router: Router, { folder, path, exists }: Page): void {
  const modules = onDemand(() => readModules(folder));
  const page = onDemand(() => readWeb(`${folder}/page.html`).replaceAll('__VERSION__', modules().version));
  const style = fileOf('text/css; charset=utf-8', readWeb('live/page.css') + readWeb(`${folder}/page.css`));
  router.get(path, async (koa) => {
    if (exists && !(await exists(koa['params']))) koa.status = 404;
    sendPage(koa, page(), ownPolicy);
  });
  router.get(`/${folder}.css`, (koa) => send(koa, style, briefly));
  mountModules(router, folder, modules);
}

/**
 * Serves modules at `/<folder>/<version>/<name>.ts`. During a rolling update, a page from one process may ask another
 * process of a different version. The page then gets that process's version, and no cache stores the reply.
 * `allow` sets the headers that let other pages use the modules.
 */
export function mountModules(
  router: Router,
  folder: string,
  read: () => WebModules,
  allow?: (koa: Koa.Context) => void,
): void {
  const modules = onDemand(() => {
    const { version, sources } = read();
    return { version, files: new Map([...sources].map(([name, text]) => [name, fileOf(javascript, text)])) };
  });
  router.get(`/${folder}/:version/:name.ts`, (koa) => {
    const { version, files } = modules();
    const file = files.get(`${koa['params'].name}.ts`);
    if (!file) throw noSuch('file');
    allow?.(koa);
    send(koa, file, koa['params'].version === version ? forever : 'no-store');
  });
}

/**
 * Sends a page that no cache stores. A link on the page does not reveal the page's own URL, which may contain a secret.
 */
export function sendPage(koa: Koa.Context, html: string, policy: string): void {
  koa.type = 'text/html';
  koa.set('cache-control', 'no-store');
  koa.set('content-security-policy', policy);
  koa.set('referrer-policy', 'no-referrer');
  koa.body = html;
}

/** Allows pages of any origin to use the file, even pages that isolate themselves (CORP). */
export function allowAnybody(koa: Koa.Context): void {
  koa.set('access-control-allow-origin', '*');
  koa.set('cross-origin-resource-policy', 'cross-origin');
}

export function send(koa: Koa.Context, file: WebFile, cacheControl: string): void {
  koa.set('cache-control', cacheControl);
  koa.set('etag', file.etag);
  koa.vary('accept-encoding');
  koa.status = 200;
  if (koa.fresh) {
    koa.status = 304;
    return;
  }
  koa.type = file.type;
  const zipped = koa.acceptsEncodings('gzip', 'identity') === 'gzip';
  if (zipped) koa.set('content-encoding', 'gzip');
  koa.body = zipped ? file.gzip : file.body;
}
