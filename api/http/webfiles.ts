/**
 * Serves the files of web/ to browsers, each with an ETag of its content. `readModules` serves TypeScript with its
 * types stripped and not bundled. These files are public and contain no data of customers.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { gzipSync } from 'node:zlib';
import type Koa from 'koa';

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
 * The modules of a folder of web/ together with those of web/live/, which all pages with a socket share. Browsers see
 * them as one folder. The first call in a process takes 100 ms, mostly to load the TypeScript parser.
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
