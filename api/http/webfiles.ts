/**
 * Files of web/ as browsers get them: TypeScript whose types are blanked out once, nothing bundled, each with a
 * tag of its content. What is served here is public; it asks for no credential and shows nobody's data.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { gzipSync } from 'node:zlib';
import type Koa from 'koa';

export type WebFile = { type: string; body: Buffer; gzip: Buffer; etag: string };
export type WebModules = {
  /** Hexadecimal; another one as soon as any of the files is another one. */
  version: string;
  /** By name, such as `main.ts`. */
  sources: Map<string, string>;
};

const web = new URL('../../web/', import.meta.url);
export const javascript = 'text/javascript; charset=utf-8';
/** Of what has its version in its address. */
export const forever = 'public, max-age=31536000, immutable';
/** Of what names that address: how long after an update pages may still load the former one. */
export const briefly = 'public, max-age=300';

export function fileOf(type: string, text: string): WebFile {
  const body = Buffer.from(text);
  return { type, body, gzip: gzipSync(body, { level: 9 }), etag: `"${digest(text)}"` };
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 20);

/** A file of web/ as it stands. */
export const readWeb = (path: string): string => readFileSync(new URL(path, web), 'utf8');

/**
 * The modules of a folder of web/ together with those of `live/`, which pages with a socket share: they are served as one
 * folder. The first call of a process takes 100 ms, most of it for the parser of TypeScript.
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

/** Without what only people read: blanks in place of types, and comments that stand for themselves. */
const served = (source: string): string =>
  source.replaceAll(/^ *\/\*\*[\s\S]*?\*\/$/gm, '').replaceAll(/[ \t]+$/gm, '');

/** Pages of any origin may use it, also those that only take what says so. */
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
