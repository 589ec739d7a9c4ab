/** Turns the list of routes into OpenAPI 3.1. The schemas in the document are those that validate requests. */
import { createDocument, type ZodOpenApiObject, type ZodOpenApiPathsObject } from 'zod-openapi';
import { z } from 'zod';
import { errorReply } from '../base/contract/common.ts';
import { examples } from '../examples.ts';
import type { SignatureProvider } from '../access/auth.ts';
import { keepsReply, type Route } from './route.ts';
import type { RouteGroups } from '../routes.ts';
import { errorTable, type ErrorCode } from '../../models/rules/base/errors.ts';

const header = (description: string, { required = true } = {}) => ({
  description,
  required,
  schema: { type: 'string' as const },
});
const headers = {
  'x-request-id': header('Names this request in our logs; one of yours, when you sent a harmless one.'),
  'RateLimit-Policy': header('How many requests the route takes in how many seconds.'),
  RateLimit: header('What is left of them, and when all of them are back.'),
  'Retry-After': header('Seconds to wait.'),
  'WWW-Authenticate': header('`Bearer`'),
  Location: header('Where to continue.'),
  'Idempotent-Replayed': header('`true` when this is the first answer again.', { required: false }),
};
type HeaderName = keyof typeof headers;

export function openApiDocument(groups: RouteGroups, options: { version: string }) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [tag, routes] of Object.entries(groups)) {
    for (const route of routes) (paths[route.path] ??= {})[route.method.toLowerCase()] = operation(tag, route);
  }
  return createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Support platform',
      version: options.version,
      description:
        'A customer-support platform with an AI agent. Errors are `{ error, code, details?, request_id }`. Fields and query parameters that a route does not list are refused.',
    },
    // The URL names no host, because the page `/docs` may only send requests to its own origin.
    servers: [{ url: '/v1' }],
    tags: Object.keys(groups).map((name) => ({ name })),
    components: {
      securitySchemes: {
        dashboardLogin: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'From `POST /auth/login`; valid 7 days.',
        },
        apiKey: { type: 'http', scheme: 'bearer', description: 'A secret key, `svc_sk_…`. Keep it on your server.' },
        sessionToken: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'Of a customer: `token` of `POST /support/sessions/orgs/{orgId}/mint`.',
        },
        ...signatureSchemes(groups),
      },
      headers,
    },
    paths: paths as ZodOpenApiPathsObject,
  } satisfies ZodOpenApiObject);
}

function operation(tag: string, route: Route) {
  const json = (schema: z.ZodType) => ({ 'application/json': { schema } });
  const reply = route.envelope ? z.object({ success: z.literal(true), data: route.reply }) : route.reply;
  const responses: Record<string, unknown> = {};
  for (const status of [route.status, ...(route.otherStatuses ?? [])]) {
    responses[status] = {
      description: status === 302 ? 'Continue there.' : 'Done.',
      headers: headersOf(
        ...(status === 302 ? ['Location' as const] : []),
        ...(route.limit ? (['RateLimit-Policy', 'RateLimit'] as const) : []),
        ...(keepsReply(route) ? ['Idempotent-Replayed' as const] : []),
      ),
      ...(status === 302 ? {} : { content: json(reply) }),
    };
  }
  for (const [status, codes] of errorsByStatus(route)) {
    const description = codes.map((code) => `\`${code}\`: ${errorTable[code].message}`).join('\n\n');
    responses[status] = {
      description,
      headers: headersOf(
        ...(status === 401 && route.auth.kind !== 'signature' ? ['WWW-Authenticate' as const] : []),
        ...(status === 429 ? (['Retry-After', 'RateLimit-Policy', 'RateLimit'] as const) : []),
      ),
      content: json(errorReply),
    };
  }
  return {
    operationId: route.name,
    tags: [tag],
    summary: route.summary,
    security: security(route),
    requestParams: {
      ...(route.params ? { path: route.params } : {}),
      query: route.query,
      ...(keepsReply(route)
        ? {
            header: z.object({
              'Idempotency-Key': z
                .string()
                .min(1)
                .max(255)
                .optional()
                .meta({ description: 'Makes a repeated request answer as the first did; kept 24 hours.' }),
            }),
          }
        : {}),
    },
    ...(route.body || route.raw || route.upload ? { requestBody: requestBody(route) } : {}),
    responses,
  };
}

/** The header of a form's file part; the extension of the file name determines the file type. */
const fileDisposition = {
  description: 'Carries the name of the file; its ending says what the file is.',
  schema: { type: 'string' as const },
  example: 'form-data; name="file"; filename="help.md"',
};

/** The headers of a reply, by name. Every reply has `x-request-id`. */
function headersOf(...names: HeaderName[]) {
  return Object.fromEntries(
    (['x-request-id', ...names] as const).map((n) => [n, { $ref: `#/components/headers/${n}` }]),
  );
}

function requestBody(route: Route) {
  if (route.raw) return { required: false, content: { '*/*': { schema: { type: 'string', format: 'binary' } } } };
  // A missing body is read as an empty object, so the body is optional if its schema accepts an empty object.
  const required = !route.body?.safeParse({}).success;
  const example = Object.hasOwn(examples, route.name) ? { example: examples[route.name] } : {};
  if (!route.upload) return { required, content: { 'application/json': { schema: route.body, ...example } } };
  const file = z.any().meta({ override: { type: 'string', format: 'binary' } });
  return {
    required: true,
    content: {
      'multipart/form-data': {
        schema: ((route.body ?? z.strictObject({})) as z.ZodObject).extend({ file }).required({ file: true }),
        ...example,
        encoding: { file: { headers: { 'Content-Disposition': fileDisposition } } },
      },
    },
  };
}

const schemeOf = ({ name }: SignatureProvider) => `${name}Signature`;

/** One security scheme for each provider whose signature a route accepts. */
function signatureSchemes(groups: RouteGroups) {
  const providers = Object.values(groups)
    .flat()
    .flatMap(({ auth }) => (auth.kind === 'signature' ? [auth.provider] : []));
  return Object.fromEntries(
    providers.map((provider) => [
      schemeOf(provider),
      {
        type: 'apiKey' as const,
        in: 'header' as const,
        name: provider.header,
        description: `The signature over the body, by ${provider.name}.`,
      },
    ]),
  );
}

function security(route: Route): Record<string, string[]>[] {
  switch (route.auth.kind) {
    case 'open':
      return [];
    case 'jwt':
    case 'member':
      return [{ dashboardLogin: [] }];
    case 'self':
      return [{ apiKey: [] }];
    case 'session':
      return [{ sessionToken: [] }];
    case 'signature':
      return [{ [schemeOf(route.auth.provider)]: [] }];
    case 'key':
      return route.auth.keyOnly ? [{ apiKey: [] }] : [{ apiKey: [] }, { dashboardLogin: [] }];
  }
}

/** Every error code that a route can answer with: those of its handler, guard, body and rate limit. */
export function errorsOf(route: Route): Set<ErrorCode> {
  const codes = new Set<ErrorCode>([
    'VALIDATION',
    'REQUEST_TIMEOUT',
    'HEADERS_TOO_LARGE',
    'INTERNAL',
    'UNAVAILABLE',
    ...(route.errors ?? []),
  ]);
  const add = (...more: ErrorCode[]) => more.forEach((code) => codes.add(code));
  if (route.auth.kind !== 'open') add('UNAUTHENTICATED');
  if (!['open', 'signature'].includes(route.auth.kind)) add('WRONG_CREDENTIAL_KIND');
  if (route.auth.kind === 'key') add('MISSING_SCOPE');
  if (route.auth.kind === 'member') add('MISSING_ROLE');
  if (route.params) add('NOT_FOUND');
  if (route.method !== 'GET') add('TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE');
  if (route.method !== 'GET' && !route.upload && !route.raw) add('MALFORMED_JSON');
  if (route.body) add('CONFLICT');
  if (keepsReply(route)) add('IDEMPOTENCY_KEY_REUSED', 'IDEMPOTENCY_KEY_IN_PROGRESS');
  if (route.limit) add('RATE_LIMITED');
  return codes;
}

function errorsByStatus(route: Route): Map<number, ErrorCode[]> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorsOf(route)) {
    const { status } = errorTable[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return byStatus;
}
