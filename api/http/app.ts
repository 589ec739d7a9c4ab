/** The middleware stack that every request passes through, in order. */
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { createRequire } from 'node:module';
import { Router } from '@koa/router';
import Koa from 'koa';
import { inSpan } from '../../clients/base/tracing.ts';
import { mountAppPage } from './apppage.ts';
import { createAuthenticator } from '../access/authenticator.ts';
import type { Context } from '../context.ts';
import { preflights, readableBy } from './cors.ts';
import { mountCodec } from './codec.ts';
import { docsPage } from './docs.ts';
import { countRefusal, errorBody, toProblem } from './errors.ts';
import { canServe, readiness } from './health.ts';
import { createLimiter } from './limits.ts';
import type { Metrics } from './metrics.ts';
import { onDemand } from './ondemand.ts';
import { openApiDocument } from './openapi.ts';
import { mountOutcome } from './outcome.ts';
import { serve } from './serve.ts';
import { mountStartPage } from './startpage.ts';
import { takeNoParameters } from './validate.ts';
import { mountPage } from './webfiles.ts';
import { routeGroups, type RouteGroups } from '../routes.ts';
import { mountWidget } from '../chat/widget.ts';
import { slackOutcome } from '../integrations/outcome.ts';
import { mountMcp } from '../mcp/endpoint.ts';
import { toolOutcome } from '../mcp/outcome.ts';
import { newId } from '../../models/base/ids.ts';
import { findByToken } from '../../models/interviews/room.ts';
import { Problem } from '../../models/rules/base/errors.ts';
import {
  clientDocument,
  clientMetadataPath,
  resourceDocument,
  resourceMetadataPath,
} from '../../models/rules/mcp/oauth.ts';

const apiVersion = '0.1.0';
const docsAssets = { 'swagger-ui.css': 'text/css', 'swagger-ui-bundle.js': 'text/javascript' } as const;

/**
 * `state.draining` turns true when the process is about to stop. The process then completes open requests and tells
 * clients to reconnect. `groups`: the routes to serve.
 */
export function createApp(
  ctx: Context,
  metrics: Metrics,
  state: { draining: boolean } = { draining: false },
  groups: RouteGroups = routeGroups,
): Koa {
  const app = new Koa({ proxy: ctx.config.trustProxy });
  // This logger does not redact, because redaction takes a twelfth of a request's time. The fields of a request's log
  // line are fixed, and none is secret.
  const requestLog = ctx.log.child({}, { redact: [] });
  const shared = { authenticate: createAuthenticator(ctx), limit: createLimiter(ctx.config) };

  app.use((koa, next) =>
    inSpan(koa.method, { kind: 'server', parent: koa.get('traceparent') || undefined }, async (span) => {
      koa.set('x-trace-id', span.spanContext().traceId);
      await next();
      const route = (koa['_matchedRoute'] as string | undefined) ?? 'none';
      span.updateName(`${koa.method} ${route}`);
      span.setAttributes({
        'http.request.method': koa.method,
        'http.route': route,
        'http.response.status_code': koa.status,
        org_id: koa.state['orgId'] as string | undefined,
      });
    }),
  );
  app.use(async (koa, next) => {
    const started = performance.now();
    const given = koa.get('x-request-id');
    const requestId = /^[\w.:-]{1,128}$/.test(given) ? given : newId('request');
    koa.set('x-request-id', requestId);
    koa.set('x-content-type-options', 'nosniff');
    let problem: Problem | undefined;
    try {
      await next();
      if (koa.status === 404 && koa.body === undefined) throw unrouted(koa);
    } catch (error) {
      problem = toProblem(error);
      countRefusal(problem);
      koa.status = problem.status;
      koa.set(problem.headers);
      // RFC 9110, 15.5.2: a 401 names the expected authentication scheme. A signed request has its signature in a
      // header that the provider defines, so there is no scheme to name.
      if (koa.status === 401 && koa.state['guard'] !== 'signature')
        koa.set('www-authenticate', (koa.state['challenge'] as string | undefined) ?? 'Bearer');
      koa.type = 'application/json';
      koa.body = JSON.stringify(errorBody(problem, requestId));
      // The rest of an unread body is read and dropped. Closing the connection while the client still sends would reset
      // it, and the client would lose the reply. Node's `requestTimeout` bounds how long this reading takes.
      if (!koa.req.complete) koa.req.resume();
    }
    // `state.draining` is checked after the handler, because the process may have begun to stop while this request ran.
    if (state.draining) koa.set('connection', 'close');
    const ms = performance.now() - started;
    const route = (koa['_matchedRoute'] as string | undefined) ?? 'none';
    metrics.requests.observe({ method: koa.method, route, status: koa.status }, ms / 1000);
    const line = {
      request_id: requestId,
      org_id: koa.state['orgId'] as string | undefined,
      method: koa.method,
      route,
      status: koa.status,
      ms: Math.round(ms * 10) / 10,
      code: problem?.code,
    };
    // The path is not logged, because the paths of room links and mail objections hold their secret tokens.
    if (koa.status >= 500) ctx.log.error({ ...line, err: problem?.cause }, 'request failed');
    else if (problem?.code === 'FEDERATED_LOGIN_FAILED') requestLog.warn({ ...line, err: problem.cause }, 'request');
    else requestLog.info(line, 'request');
  });

  const outside = new Router();
  outside.get('/health/live', (koa) => {
    koa.body = { status: 'ok' };
  });
  // Load balancers ask this path. It does not check Temporal, because this process accepts requests even while Temporal
  // is down.
  outside.get('/health/serving', async (koa) => {
    const serving = !state.draining && (await canServe());
    koa.status = serving ? 200 : 503;
    koa.body = { status: serving ? 'ok' : state.draining ? 'draining' : 'down' };
  });
  outside.get('/health/ready', async (koa) => {
    const { ready, ...parts } = await readiness(ctx);
    const serving = ready && !state.draining;
    koa.status = serving ? 200 : 503;
    const status = state.draining ? 'draining' : ready ? 'ok' : 'down';
    // Without embeddings, questions are still answered by a search for their words, so the process stays ready.
    koa.body = { status, ...parts, embedding: ctx.embedding.state() };
  });
  outside.get('/metrics', async (koa) => {
    koa.type = metrics.registry.contentType;
    koa.body = await metrics.registry.metrics();
  });
  if (ctx.config.encryptsPayloads) mountCodec(outside, ctx);
  outside.get('/.well-known/jwks.json', async (koa) => {
    koa.set('cache-control', 'public, max-age=60');
    koa.body = await ctx.tokens.jwks();
  });
  outside.get(clientMetadataPath, (koa) => {
    koa.set('cache-control', 'public, max-age=60');
    koa.body = clientDocument(ctx.config.publicUrl);
  });
  outside.get(resourceMetadataPath, (koa) => {
    koa.set('cache-control', 'public, max-age=60');
    koa.body = resourceDocument(ctx.config.publicUrl);
  });
  // The document is created at its first request. At the start of this process, it would take longer than all other
  // work.
  const document = onDemand(() => openApiDocument(groups, { version: apiVersion }));
  outside.get('/v1/openapi.json', (koa) => {
    takeNoParameters(koa.query);
    koa.body = document();
  });
  outside.get('/docs', (koa) => {
    koa.type = 'text/html';
    koa.set('content-security-policy', docsPage.policy);
    koa.body = docsPage.html;
  });
  const assets = join(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'), '..');
  for (const [name, type] of Object.entries(docsAssets)) {
    outside.get(`/docs/${name}`, (koa) => {
      koa.type = type;
      koa.set('cache-control', 'public, max-age=3600');
      koa.body = createReadStream(join(assets, name));
    });
  }

  mountWidget(outside, ctx);
  for (const page of [slackOutcome, toolOutcome]) mountOutcome(outside, page);
  mountPage(outside, {
    folder: 'room',
    path: '/rooms/:token',
    exists: async ({ token = '' }) => (await findByToken(token)) !== null,
  });
  // The links in account mails open this page. A link carries its token behind `#`, so the token reaches the server
  // only in a request's body.
  mountPage(outside, { folder: 'account', path: '/account' });
  mountAppPage(outside);
  mountStartPage(outside, ctx);
  mountMcp(outside, ctx, shared, apiVersion);

  const inside = new Router({ prefix: '/v1' });
  const routes = Object.values(groups).flat();
  const pattern = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');
  for (const route of routes) {
    const readable = readableBy(route);
    const handlers = [...(readable ? [readable] : []), serve(route, ctx, shared)];
    inside.register(pattern(route.path), [route.method.toLowerCase()], handlers);
  }
  for (const [path, preflight] of preflights(routes)) inside.register(pattern(path), ['options'], preflight);
  app.use(inside.routes());
  app.use(outside.routes());
  // The middleware above catches the errors of handlers. Koa emits `error` when a reply that has begun cannot be
  // completed, for example because the client disconnects.
  app.on('error', (error: unknown) => ctx.log.debug({ err: error }, 'an answer was cut off'));
  return app;
}

/** Why no route matched: the path takes other methods, or does not exist. */
function unrouted(koa: Koa.ParameterizedContext): Problem {
  const matched = (koa['matched'] ?? []) as { methods: string[]; paramNames: unknown[] }[];
  // `/knowledge-base/prune` also matches the path of a page with the id `prune`. So only the matching paths with the
  // fewest parameters decide which methods are allowed.
  const fewest = Math.min(...matched.map((layer) => layer.paramNames.length));
  const nearest = matched.filter((layer) => layer.paramNames.length === fewest);
  // OPTIONS is left out: browsers send preflights on their own, and other callers need not know about them.
  const methods = [...new Set(nearest.flatMap((layer) => layer.methods))].filter((method) => method !== 'OPTIONS');
  if (methods.length === 0) return new Problem('NOT_FOUND', { message: `There is nothing at ${koa.path}; see /docs.` });
  return new Problem('METHOD_NOT_ALLOWED', { headers: { Allow: methods.join(', ') } });
}
