/**
 * The codec endpoint, by which the Temporal UI and CLI show operators the plain text of encrypted payloads. An operator
 * opens a link that the command `ops login` prints; the browser then gets a cookie with a session proof. The Temporal
 * CLI sends a session proof as a bearer token instead.
 */
import type { ParameterizedContext } from 'koa';
import type { Router } from '@koa/router';
import { z } from 'zod';
import { jsonReader } from './body.ts';
import type { Context } from '../context.ts';
import { createPayloadCodec, type Payload } from '../../models/base/payloadcodec.ts';
import { isOperator, loginOf, readLogin, sessionMs } from '../../models/base/operatorlogin.ts';
import { Problem } from '../../models/rules/base/errors.ts';

/** The largest body, in bytes. It has room for the payloads of one reply of the Temporal server. */
const maxBytes = 8 * 1024 * 1024;
const cookie = 'operator';
const wire = z.object({
  payloads: z.array(z.object({ metadata: z.record(z.string(), z.string()).default({}), data: z.string().default('') })),
});
type Wire = z.infer<typeof wire>['payloads'][number];

export function mountCodec(router: Router, { config, secrets, clock }: Context): void {
  const codec = createPayloadCodec(config.secretKeys);
  const read = jsonReader(maxBytes);
  const isSecure = config.publicUrl.startsWith('https:');

  /** Lets the page of the Temporal UI, which has another origin, read the reply (CORS). */
  function allowUi(koa: ParameterizedContext): void {
    const origin = config.temporalUiUrl === undefined ? undefined : new URL(config.temporalUiUrl).origin;
    if (origin === undefined || koa.get('origin') !== origin) return;
    koa.set('access-control-allow-origin', origin);
    koa.set('access-control-allow-credentials', 'true');
    koa.set('access-control-allow-headers', 'authorization, content-type, x-namespace');
    koa.set('vary', 'origin');
  }

  router.get('/codec/login', (koa) => {
    const login = readLogin(secrets, String(koa.query['proof'] ?? ''), clock());
    if (!login)
      throw new Problem('UNAUTHENTICATED', { message: 'This link is not valid any more. Make one: ops login.' });
    const session = loginOf(secrets, 'session', new Date(clock().getTime() + sessionMs));
    // The header is written directly, because behind a proxy that ends TLS Koa would refuse to set a secure cookie.
    const attributes = ['Path=/codec', 'HttpOnly', 'SameSite=Lax', `Max-Age=${sessionMs / 1000}`];
    koa.set('set-cookie', [`${cookie}=${session}`, ...attributes, ...(isSecure ? ['Secure'] : [])].join('; '));
    koa.type = 'text';
    koa.body = 'You are signed in as an operator for 12 hours. The Temporal UI shows contents in plain now.\n';
  });

  for (const way of ['encode', 'decode'] as const) {
    router.options(`/codec/${way}`, (koa) => {
      allowUi(koa);
      koa.status = 204;
    });
    router.post(`/codec/${way}`, async (koa) => {
      allowUi(koa);
      const bearer = /^Bearer (.+)$/.exec(koa.get('authorization'))?.[1];
      if (!isOperator(secrets, bearer ?? koa.cookies.get(cookie), clock()))
        throw new Problem('UNAUTHENTICATED', { message: 'Sign in as an operator: npm run -s cli -- ops login' });
      const { success, data } = wire.safeParse(await read(koa));
      if (!success) throw new Problem('VALIDATION', { message: 'Send {"payloads": […]} as the Temporal UI does.' });
      const { payloads } = data;
      koa.set('cache-control', 'no-store');
      const made = await codec[way](payloads.map(fromWire)).catch((cause: Error) => {
        throw new Problem('VALIDATION', { message: `A payload cannot be read: ${cause.message}`, cause });
      });
      koa.body = { payloads: made.map(toWire) };
    });
  }
}

const fromWire = ({ metadata, data }: Wire): Payload => ({
  metadata: Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, Buffer.from(value, 'base64')])),
  data: Buffer.from(data, 'base64'),
});
const toWire = ({ metadata, data }: Payload): Wire => ({
  metadata: Object.fromEntries(
    Object.entries(metadata ?? {}).map(([name, value]) => [name, Buffer.from(value).toString('base64')]),
  ),
  data: Buffer.from(data ?? []).toString('base64'),
});
