/**
 * Serves the page of interview rooms. The page is the same for every link; an unknown link gets the page with status
 * 404. The socket finds out whose link it is. The link is a secret, so the page sends it to no other server.
 */
import type { Router } from '@koa/router';
import { onDemand } from '../http/ondemand.ts';
import { briefly, fileOf, forever, javascript, readModules, readWeb, send } from '../http/webfiles.ts';
import { findByToken } from '../../models/interviews/room.ts';
import { Problem } from '../../models/rules/base/errors.ts';

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export function mountRoomPage(router: Router): void {
  const files = onDemand(() => {
    const { version, sources } = readModules('room');
    const page = readWeb('room/page.html').replaceAll('__VERSION__', version);
    return { version, page, modules: new Map([...sources].map(([name, text]) => [name, fileOf(javascript, text)])) };
  });
  const style = fileOf('text/css; charset=utf-8', readWeb('room/page.css'));

  router.get('/rooms/:token', async (koa) => {
    // The page itself tells people that the link is unknown; the status tells programs.
    koa.status = (await findByToken(String(koa['params'].token))) ? 200 : 404;
    koa.type = 'text/html';
    koa.set('cache-control', 'no-store');
    koa.set('content-security-policy', policy);
    koa.set('referrer-policy', 'no-referrer');
    koa.body = files().page;
  });
  router.get('/room.css', (koa) => send(koa, style, briefly));
  router.get('/room/:version/:name.ts', (koa) => {
    const { version, modules } = files();
    const file = modules.get(`${koa['params'].name}.ts`);
    if (!file) throw new Problem('NOT_FOUND', { message: 'The room has no such file.' });
    send(koa, file, koa['params'].version === version ? forever : 'no-store');
  });
}
