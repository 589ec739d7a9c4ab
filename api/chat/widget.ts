/**
 * Serves the chat widget and its demonstration page. The widget's files are TypeScript in web/; their types are
 * stripped on the first request, and nothing is bundled. Everything here is public and contains no data of customers.
 */
import type { Router } from '@koa/router';
import { lookOf } from './look.ts';
import type { Context } from '../context.ts';
import { onDemand } from '../http/ondemand.ts';
import {
  allowAnybody,
  briefly,
  fileOf,
  forever,
  javascript,
  mountModules,
  readModules,
  readWeb,
  send,
  sendPage,
} from '../http/webfiles.ts';
import { cached } from '../../models/base/cached.ts';
import { wellFormed } from '../../models/access/key.ts';
import { findPublishableKey } from '../../models/access/publishablekey.ts';
import { findWidgetPicture } from '../../models/chat/widget.ts';
import { isIdOf } from '../../models/base/ids.ts';
import { Problem } from '../../models/rules/base/errors.ts';
import { splitToken } from '../../models/rules/access/keys.ts';

/** The widget's loader, which has a URL of its own, and its other modules. */
function loadWidget() {
  const modules = readModules('widget');
  const loader = modules.sources.get('loader.ts')!.replaceAll('__VERSION__', modules.version);
  modules.sources.delete('loader.ts');
  return { loader: fileOf(javascript, loader), modules };
}

export function mountWidget(router: Router, ctx: Context): void {
  const widget = onDemand(loadWidget);
  const demo = readWeb('demo/page.html');
  const demoStyle = fileOf('text/css; charset=utf-8', readWeb('demo/page.css'));
  const organizationOf = cached(findPublishableKey);

  router.get('/widget.js', (koa) => {
    allowAnybody(koa);
    send(koa, widget().loader, briefly);
  });
  mountModules(router, 'widget', () => widget().modules, allowAnybody);
  // The widget names its organization by a publishable key, which is public anyway, or by the id in its session token.
  router.get('/widget/organizations/:place', async (koa) => {
    allowAnybody(koa);
    const place = koa['params'].place as string;
    const known = splitToken(place)?.kind === 'publishable' && wellFormed(place);
    const orgId = known ? (await organizationOf(place))?.org_id : place;
    const found = orgId && isIdOf('org', orgId) ? await lookOf(ctx, orgId) : undefined;
    if (!found) throw new Problem('NOT_FOUND', { message: 'This publishable key does not exist or was replaced.' });
    koa.set('cache-control', 'public, max-age=60');
    koa.body = found;
  });
  router.get('/widget/pictures/:orgId/:sha256', async (koa) => {
    allowAnybody(koa);
    const { orgId, sha256 } = koa['params'] as { orgId: string; sha256: string };
    const picture = await findWidgetPicture(orgId, sha256);
    if (!picture) throw new Problem('NOT_FOUND', { message: 'This picture does not exist or was replaced.' });
    koa.set('cache-control', forever);
    koa.set('content-security-policy', "default-src 'none'");
    koa.type = picture.type;
    koa.body = picture.content;
  });
  router.get('/demo', (koa) => sendPage(koa, demoPage(demo, koa.query), demoPolicy));
  router.get('/demo.css', (koa) => {
    allowAnybody(koa);
    send(koa, demoStyle, briefly);
  });
}

/**
 * The strictest policy that the widget works under: its own scripts, pictures and connections, no inline style or
 * script. The page `/app` shows this page as a preview.
 */
const demoPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/** The query parameters of the demonstration page that become `data-` attributes of the widget's script. */
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
