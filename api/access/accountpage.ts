/**
 * Serves the page that links in account mails open. The page is public and the same for everybody. A link carries its
 * token behind `#`, so the token reaches the server only in a request's body.
 */
import type { Router } from '@koa/router';
import { onDemand } from '../http/ondemand.ts';
import { briefly, fileOf, forever, javascript, readModules, readWeb, send } from '../http/webfiles.ts';
import { Problem } from '../../models/rules/base/errors.ts';

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export function mountAccountPage(router: Router): void {
  const files = onDemand(() => {
    const { version, sources } = readModules('account');
    const page = readWeb('account/page.html').replaceAll('__VERSION__', version);
    return { version, page, modules: new Map([...sources].map(([name, text]) => [name, fileOf(javascript, text)])) };
  });
  const style = fileOf('text/css; charset=utf-8', readWeb('account/page.css'));

  router.get('/account', (koa) => {
    koa.type = 'text/html';
    koa.set('cache-control', 'no-store');
    koa.set('content-security-policy', policy);
    koa.set('referrer-policy', 'no-referrer');
    koa.body = files().page;
  });
  router.get('/account.css', (koa) => send(koa, style, briefly));
  router.get('/account/:version/:name.ts', (koa) => {
    const { version, modules } = files();
    const file = modules.get(`${koa['params'].name}.ts`);
    if (!file) throw new Problem('NOT_FOUND', { message: 'The page has no such file.' });
    send(koa, file, koa['params'].version === version ? forever : 'no-store');
  });
}
