/**
 * Serves the chat widget and the page that shows it. The widget's files are TypeScript in web/, whose types are blanked out
 * once at the start; nothing is bundled. What is served here is public: it asks for no credential and shows nobody's data.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { gzipSync } from 'node:zlib';
import type { Router } from '@koa/router';
import type Koa from 'koa';
import { cached } from '../../models/base/cached.ts';
import { wellFormed } from '../../models/access/key.ts';
import { findPublishableKey } from '../../models/access/publishablekey.ts';
import { Problem } from '../../models/rules/base/errors.ts';
import { splitToken } from '../../models/rules/access/keys.ts';

type File = { type: string; body: Buffer; gzip: Buffer; etag: string };
export type WidgetFiles = {
  /** Hexadecimal; another one as soon as any of the files is another one. */
  version: string;
  loader: File;
  /** By name, such as `main.ts`. */
  modules: ReadonlyMap<string, File>;
};

const web = new URL('../../web/', import.meta.url);
const javascript = 'text/javascript; charset=utf-8';
/** Of the modules: their address changes with them. */
const forever = 'public, max-age=31536000, immutable';
/** Of the loader, which names the modules' address: how long after an update pages may still load the former one. */
const briefly = 'public, max-age=300';

function fileOf(type: string, text: string): File {
  const body = Buffer.from(text);
  return { type, body, gzip: gzipSync(body, { level: 9 }), etag: `"${digest(text)}"` };
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 20);

/** Reads the widget's sources. Takes some 10 ms, once a process. */
function loadWidget(): WidgetFiles {
  const names = readdirSync(new URL('widget/', web)).filter((name) => name.endsWith('.ts'));
  const sources = new Map(
    names.sort().map((name) => [name, stripTypeScriptTypes(readFileSync(new URL(`widget/${name}`, web), 'utf8'))]),
  );
  const version = digest(JSON.stringify([...sources]));
  const loader = sources.get('loader.ts')!.replaceAll('__VERSION__', version);
  sources.delete('loader.ts');
  const modules = new Map([...sources].map(([name, text]) => [name, fileOf(javascript, text)]));
  return { version, loader: fileOf(javascript, loader), modules };
}

/** The routes of the widget and its demonstration. */
export function mountWidget(router: Router): void {
  const widget = loadWidget();
  const demo = readFileSync(new URL('demo/page.html', web), 'utf8');
  const demoStyle = fileOf('text/css; charset=utf-8', readFileSync(new URL('demo/page.css', web), 'utf8'));
  const organizationOf = cached(findPublishableKey);

  router.get('/widget.js', (koa) => send(koa, widget.loader, briefly));
  // While processes are being replaced, a loader of one may ask another: it gets what there is, and no cache keeps it.
  router.get('/widget/:version/:name.ts', (koa) => {
    const file = widget.modules.get(`${koa['params'].name}.ts`);
    if (!file) throw new Problem('NOT_FOUND', { message: 'The widget has no such file.' });
    send(koa, file, koa['params'].version === widget.version ? forever : 'no-store');
  });
  // A publishable key stands in every page that embeds the chat, and naming the organization is what it is for.
  router.get('/widget/organizations/:key', async (koa) => {
    allowAnybody(koa);
    const key = koa['params'].key as string;
    const known = splitToken(key)?.kind === 'publishable' && wellFormed(key);
    const record = known ? await organizationOf.read(key) : null;
    if (!record) throw new Problem('NOT_FOUND', { message: 'This publishable key does not exist or was replaced.' });
    koa.set('cache-control', 'public, max-age=60');
    koa.body = { org_id: record.org_id };
  });
  router.get('/demo', (koa) => {
    koa.type = 'text/html';
    koa.set('cache-control', 'no-store');
    koa.set('content-security-policy', demoPolicy);
    koa.body = demoPage(demo, koa.query);
  });
  router.get('/demo.css', (koa) => send(koa, demoStyle, briefly));
}

/** The strictest policy that the widget works under: its own scripts and connections, no inline style or script. */
const demoPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** What may be said of the widget in the address of the demonstration, after the attributes that it becomes. */
const demoSettings = ['key', 'product', 'theme', 'position', 'dir', 'locale', 'title'] as const;

function demoPage(template: string, query: Record<string, string | string[] | undefined>): string {
  const attributes = demoSettings.flatMap((name) => {
    const value = query[name];
    return typeof value === 'string' ? [` data-${name}="${escapeAttribute(value)}"`] : [];
  });
  return template.replace(' data-settings', () => attributes.join(''));
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeAttribute = (text: string): string => text.replaceAll(/[&<>"]/g, (each) => entities[each]!);

/** Pages of any origin use these files, also those that only take what says so. */
function allowAnybody(koa: Koa.Context): void {
  koa.set('access-control-allow-origin', '*');
  koa.set('cross-origin-resource-policy', 'cross-origin');
}

function send(koa: Koa.Context, file: File, cacheControl: string): void {
  allowAnybody(koa);
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
