/**
 * Reads the environment variables, checks them with zod, and returns a frozen `Config`. No other file reads environment
 * variables. docs/configuration.md lists every variable; test/house/configuration.test.ts compares that list with this
 * file.
 */
import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { z } from 'zod';
import { defined } from './models/rules/base/defined.ts';
import { readEgressEntry } from './models/rules/base/address.ts';
import { readAddress, readMailbox } from './models/rules/access/mailbox.ts';
import { readSmtpUrl } from './providers/mail/rules.ts';
import { rateLimit, rateNames, rates, rateSeconds, type RateName } from './models/rules/base/rates.ts';
import { maxFileBytes } from './models/rules/knowledge/document.ts';

const port = z.coerce.number().int().min(0).max(65_535);
const positive = z.coerce.number().int().min(1);
const list = z.string().transform((text) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean),
);

const file = z.string().transform((path, issues) => {
  try {
    return readFileSync(path);
  } catch (error) {
    issues.addIssue({ code: 'custom', message: `cannot be read: ${(error as Error).message}` });
    return z.NEVER;
  }
});

const hosts = list.refine(
  (entries) => entries.every(readEgressEntry),
  'must be hosts, each `host` or `host:port`; no ranges or wildcards',
);

const oidcProviders = z
  .string()
  .transform((text, issues) => {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      issues.addIssue({ code: 'custom', message: 'is not valid JSON' });
      return z.NEVER;
    }
  })
  .pipe(z.record(z.string(), z.strictObject({ issuer: z.url(), client_id: z.string(), client_secret: z.string() })));

/** How vectors are computed: not at all, by the models in the cache or in `folder`, or by the services at `urls`. */
const embedding = z
  .string()
  .transform((text, issues): { state: 'embedded' | 'off'; folder?: string; urls: readonly string[] } => {
    if (text === 'embedded' || text === 'off') return { state: text, urls: [] };
    if (isAbsolute(text) || text.startsWith('.')) return { state: 'embedded', folder: text, urls: [] };
    const urls = text.split(',').map((url) => url.trim());
    if (urls.every((url) => /^https?:\/\//.test(url) && URL.canParse(url))) return { state: 'embedded', urls };
    issues.addIssue({
      code: 'custom',
      message: 'must be `embedded`, `off`, a folder that begins with / or ., or comma-separated http(s) addresses',
    });
    return z.NEVER;
  });

/** The limits that `LIMITS` may set, with their defaults. */
export const defaultLimits: Readonly<Record<string, number>> = {
  sandbox_documents: 25,
  sandbox_pages: 200,
  plan_documents: 50,
  plan_pages: 1000,
  test_replies_per_minute: 10,
  test_conversations_per_month: 500,
  sockets: 10_000,
  sockets_per_address: 200,
  requests_per_site: 2,
  ...Object.fromEntries(rateNames.map((name) => [rateLimit(name), rates[name].points])),
};

/** The number of seconds that a stopping process waits for running work to end. Kubernetes kills a process after 30. */
export const drainSeconds: number = 20;

/** The highest `requests_per_site`. More requests at a time do not speed a crawl up, and may slow the site down. */
const mostRequestsPerSite = 16;

/** The form of `LIMITS`: `name=number`, separated by commas. If a name occurs twice, its last number is used. */
const limits = list.transform((entries, issues): Readonly<Record<string, number>> => {
  const set = { ...defaultLimits };
  for (const entry of entries) {
    const [, name, number] = /^(\w+)=(\d{1,15})$/.exec(entry) ?? [];
    // 0 is accepted for documents and pages only. With 0 for another limit, the system could not be used.
    const least = name !== undefined && /_(?:documents|pages)$/.test(name) ? 0 : 1;
    const most = name === 'requests_per_site' ? mostRequestsPerSite : Infinity;
    const fits = Number(number) >= least && Number(number) <= most;
    if (name !== undefined && Object.hasOwn(set, name) && fits) set[name] = Number(number);
    else issues.addIssue({ code: 'custom', message: `${entry} is not a limit and its number (docs/configuration.md)` });
  }
  return set;
});

/**
 * The URLs of other services, unless `SERVICE_URLS` sets others. `undefined`: the service has no fixed URL, because the
 * AWS URLs depend on the region, and each operator has a Temporal UI of their own.
 */
export const defaultServices = {
  slack: 'https://slack.com/api/',
  slack_consent: 'https://slack.com/oauth/v2/authorize',
  linear: 'https://api.linear.app/graphql',
  github: 'https://api.github.com',
  teams_keys: 'https://login.botframework.com/v1/.well-known/openidconfiguration',
  teams_login: 'https://login.microsoftonline.com/botframework.com/oauth2/v2.0/token',
  recall: 'https://us-east-1.recall.ai/api/v1',
  attendee: 'https://app.attendee.dev/api/v1',
  s3: undefined,
  sns: undefined,
  temporal_ui: undefined,
} as const satisfies Record<string, string | undefined>;
type ServiceName = keyof typeof defaultServices;
/** The URL of each service. It can be undefined only for a service without a default URL. */
type Services = {
  [N in ServiceName]: (typeof defaultServices)[N] extends string ? string : string | undefined;
};

/**
 * The form of `SERVICE_URLS`: `name=address`, separated by commas. If a name occurs twice, its last address is used.
 */
const services = list.transform((entries, issues) => {
  const set: Services = { ...defaultServices };
  for (const entry of entries) {
    const [, name = '', url = ''] = /^(\w+)=(https?:\/\/.+)$/.exec(entry) ?? [];
    if (Object.hasOwn(defaultServices, name) && URL.canParse(url)) set[name as ServiceName] = url;
    else
      issues.addIssue({ code: 'custom', message: `${entry} is not a service and its address (docs/configuration.md)` });
  }
  return set;
});

/** For each service of meeting bots: the form of its webhook secret, and what to say when a secret has another form. */
const botSecrets = {
  recall: [/^whsec_[A-Za-z0-9+/_-]+=*$/, 'begin with whsec_ and go on in Base64, as Recall.ai shows it'],
  attendee: [/^[A-Za-z0-9+/]{16,}={0,2}$/, 'be Base64, as Attendee shows it'],
} as const;

export const environment = z.object({
  PORT: port.default(3000),
  HOST: z.string().default('127.0.0.1'),
  PUBLIC_URL: z.url().optional(),
  DATA_DIR: z.string().min(1).default('.data'),
  SEARCH_URI: z.string().optional(),
  MONGODB_URI: z.string().optional(),
  REDIS_URL: z.url({ protocol: /^rediss?$/ }).optional(),
  TEMPORAL_ADDRESS: z.string().optional(),
  TEMPORAL_NAMESPACE: z.string().min(1).default('default'),
  TEMPORAL_API_KEY: z.string().min(1).optional(),
  TEMPORAL_TLS: z.stringbool().optional(),
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: file.optional(),
  TEMPORAL_TLS_CLIENT_CERT_PATH: file.optional(),
  TEMPORAL_TLS_CLIENT_KEY_PATH: file.optional(),
  TEMPORAL_PAYLOADS: z.enum(['plain', 'encrypted']).default('plain'),
  TASK_QUEUE_PREFIX: z
    .string()
    .regex(/^[\w.-]*$/)
    .default(''),
  FLEETS: list.optional(),
  WORKER_BUILD_ID: z
    .string()
    .regex(/^[\w.-]{1,100}$/)
    .optional(),
  WORKER_METRICS_PORT: port.optional(),
  EGRESS_ALLOW: hosts.default([]),
  PUPPETEER_EXECUTABLE_PATH: z.string().optional(),
  CHROMIUM_SANDBOX: z.stringbool().optional(),
  TRUST_PROXY: z.stringbool().default(false),
  SECRET_KEY: list
    .refine(
      (keys) => keys.length > 0 && keys.every((key) => /^[0-9a-fA-F]{64}$/.test(key)),
      'must be 64 hexadecimal digits (32 bytes), or comma-separated keys of this form; make one with: openssl rand -hex 32',
    )
    .optional(),
  OIDC_PROVIDERS: oidcProviders.default({}),
  OPENAI_BASE_URL: z.url().optional(),
  OPENAI_API_KEY: z.string().optional(),
  OPENAI_MODEL: z.string().optional(),
  OPENAI_EMBEDDING_MODEL: z.string().optional(),
  OPENAI_TIMEOUT_MS: positive.default(30_000),
  MEETING_BOT_SERVICE: z.enum(['recall', 'attendee']).default('recall'),
  MEETING_BOT_API_KEY: z.string().optional(),
  MEETING_BOT_WEBHOOK_SECRET: z.string().optional(),
  EMBEDDING: embedding.prefault('embedded'),
  SLACK_CLIENT_ID: z.string().min(1).optional(),
  SLACK_CLIENT_SECRET: z.string().min(1).optional(),
  SLACK_SIGNING_SECRET: z.string().min(1).optional(),
  LINEAR_WEBHOOK_SECRET: z.string().min(1).optional(),
  SMTP_URL: z
    .string()
    .refine((text) => readSmtpUrl(text) !== undefined, 'must be smtp://host:port or smtps://user:password@host')
    .optional(),
  MAIL_FROM: z
    .string()
    .refine((text) => readMailbox(text) !== undefined, 'must be an address, or `Name <address>`')
    .optional(),
  REPLY_DOMAIN: z
    .string()
    .refine((text) => readAddress(`reply@${text}`) !== undefined, 'must be a domain, such as reply.example.com')
    .optional(),
  TEAMS_APP_ID: z.string().min(1).optional(),
  TEAMS_APP_PASSWORD: z.string().min(1).optional(),
  TEAMS_WEBHOOK_SECRET: z
    .string()
    .regex(/^[A-Za-z0-9+/]{16,}={0,2}$/, 'must be the security token in base64, as Teams shows it')
    .optional(),
  SNS_TOPIC_ARNS: list.default([]),
  INBOUND_BUCKETS: list.default([]),
  AWS_REGION: z
    .string()
    .regex(/^[a-z]{2}(?:-[a-z]+)+-\d$/, 'must be the name of a region, such as eu-central-1')
    .default('us-east-1'),
  AWS_ACCESS_KEY_ID: z.string().optional(),
  AWS_SECRET_ACCESS_KEY: z.string().optional(),
  AWS_SESSION_TOKEN: z.string().optional(),
  LIMITS: limits.prefault(''),
  SERVICE_URLS: services.prefault(''),
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
});

export type Config = ReturnType<typeof readConfig>;

/** A missing or malformed variable, described in sentences for the operator who starts the process. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * Reads the configuration. Creates DATA_DIR, and in it the secret key when SECRET_KEY is not set.
 * @throws ConfigError naming each bad variable.
 */
export function readConfig(env: Record<string, string | undefined>) {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const parsed = environment.safeParse(given);
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
    throw new ConfigError(`The configuration is not valid.\n${lines.join('\n')}\nSee docs/configuration.md.`);
  }
  const v = parsed.data;
  if (v.SMTP_URL !== undefined && v.MAIL_FROM === undefined && v.REPLY_DOMAIN === undefined)
    throw new ConfigError('SMTP_URL needs MAIL_FROM, the address that mails come from.\nSee docs/configuration.md.');
  const [botSecret, told] = botSecrets[v.MEETING_BOT_SERVICE];
  if (v.MEETING_BOT_WEBHOOK_SECRET !== undefined && !botSecret.test(v.MEETING_BOT_WEBHOOK_SECRET))
    throw new ConfigError(`MEETING_BOT_WEBHOOK_SECRET must ${told}.\nSee docs/configuration.md.`);
  const dataDir = resolve(v.DATA_DIR);
  const limit = (name: string): number => v.LIMITS[name]!;
  return Object.freeze({
    port: v.PORT,
    host: v.HOST,
    publicUrl: (v.PUBLIC_URL ?? `http://127.0.0.1:${v.PORT}`).replace(/\/$/, ''),
    dataDir,
    searchUri: v.SEARCH_URI ?? join(dataDir, 'search'),
    mongodbUri: v.MONGODB_URI,
    redisUrl: v.REDIS_URL,
    temporalAddress: v.TEMPORAL_ADDRESS,
    temporalNamespace: v.TEMPORAL_NAMESPACE,
    /** The TLS settings and the API key for every connection to Temporal. */
    temporalAccess: temporalAccessOf(v),
    temporalUiUrl: v.SERVICE_URLS.temporal_ui,
    /** Whether the data in Temporal are encrypted with the secret key. */
    encryptsPayloads: v.TEMPORAL_PAYLOADS === 'encrypted',
    taskQueuePrefix: v.TASK_QUEUE_PREFIX,
    fleets: v.FLEETS,
    /** The version that workers report to Temporal. Undefined: Temporal does not tell versions apart. */
    workerBuildId: v.WORKER_BUILD_ID,
    workerMetricsPort: v.WORKER_METRICS_PORT,
    egressAllow: v.EGRESS_ALLOW,
    crawlerContact: v.PUBLIC_URL,
    crawlConcurrency: limit('requests_per_site'),
    chromiumPath: v.PUPPETEER_EXECUTABLE_PATH,
    chromiumSandbox: v.CHROMIUM_SANDBOX,
    trustProxy: v.TRUST_PROXY,
    secretKeys: secretKeysOf(v.SECRET_KEY ?? [], dataDir),
    oidcProviders: v.OIDC_PROVIDERS,
    openai: {
      baseUrl: v.OPENAI_BASE_URL,
      apiKey: v.OPENAI_API_KEY,
      model: v.OPENAI_MODEL,
      embeddingModel: v.OPENAI_EMBEDDING_MODEL,
      timeoutMs: v.OPENAI_TIMEOUT_MS,
    },
    meetingBots: {
      service: v.MEETING_BOT_SERVICE,
      apiKey: v.MEETING_BOT_API_KEY,
      apiUrl: v.SERVICE_URLS[v.MEETING_BOT_SERVICE],
      webhookSecret: v.MEETING_BOT_WEBHOOK_SECRET,
    },
    embedding: v.EMBEDDING,
    quotas: {
      sandbox: { documents: limit('sandbox_documents'), knowledge_pages: limit('sandbox_pages') },
      production: { documents: limit('plan_documents'), knowledge_pages: limit('plan_pages') },
    },
    testRepliesPerMinute: limit('test_replies_per_minute'),
    testConversationsPerMonth: limit('test_conversations_per_month'),
    maxUploadBytes: maxFileBytes,
    slack: slackOf(v),
    linearApiUrl: withPath(v.SERVICE_URLS.linear, '/graphql'),
    githubApiUrl: v.SERVICE_URLS.github.replace(/\/+$/, ''),
    linearWebhookSecret: v.LINEAR_WEBHOOK_SECRET,
    mail: {
      server: v.SMTP_URL === undefined ? undefined : readSmtpUrl(v.SMTP_URL),
      from: v.MAIL_FROM === undefined ? undefined : readMailbox(v.MAIL_FROM),
      replyDomain: v.REPLY_DOMAIN?.toLowerCase(),
    },
    teams: {
      openidUrl: v.SERVICE_URLS.teams_keys,
      tokenUrl: v.SERVICE_URLS.teams_login,
      appId: v.TEAMS_APP_ID,
      webhookSecret: v.TEAMS_WEBHOOK_SECRET,
      app:
        v.TEAMS_APP_ID === undefined || v.TEAMS_APP_PASSWORD === undefined
          ? undefined
          : { appId: v.TEAMS_APP_ID, password: v.TEAMS_APP_PASSWORD, tokenUrl: v.SERVICE_URLS.teams_login },
    },
    sns: {
      topicArns: v.SNS_TOPIC_ARNS,
      certHosts: v.SERVICE_URLS.sns === undefined ? [] : [new URL(v.SERVICE_URLS.sns).host],
    },
    inboundBuckets: v.INBOUND_BUCKETS,
    s3: {
      endpoint: v.SERVICE_URLS.s3,
      region: v.AWS_REGION,
      accessKeyId: v.AWS_ACCESS_KEY_ID,
      secretAccessKey: v.AWS_SECRET_ACCESS_KEY,
      sessionToken: v.AWS_SESSION_TOKEN,
    },
    rates: Object.freeze(ratesOf(limit)),
    maxSockets: limit('sockets'),
    socketsPerAddress: limit('sockets_per_address'),
    drainSeconds,
    logLevel: v.LOG_LEVEL,
    /** The URL to which spans are exported; undefined when they are not exported. */
    tracesUrl: v.OTEL_EXPORTER_OTLP_ENDPOINT,
  });
}

/** TLS is used when `TEMPORAL_TLS` turns it on, or when a certificate or an API key is set. */
function temporalAccessOf(v: z.infer<typeof environment>) {
  const [ca, crt, key] = [
    v.TEMPORAL_TLS_SERVER_CA_CERT_PATH,
    v.TEMPORAL_TLS_CLIENT_CERT_PATH,
    v.TEMPORAL_TLS_CLIENT_KEY_PATH,
  ];
  if ((crt === undefined) !== (key === undefined))
    throw new ConfigError(
      'TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH need each other.\nSee docs/configuration.md.',
    );
  const wanted = [ca, crt, v.TEMPORAL_API_KEY].some((one) => one !== undefined);
  if (v.TEMPORAL_TLS === false && wanted)
    throw new ConfigError(
      'TEMPORAL_TLS is off, but a certificate or TEMPORAL_API_KEY is set, which need it.\nSee docs/configuration.md.',
    );
  return {
    ...defined({ apiKey: v.TEMPORAL_API_KEY }),
    ...((v.TEMPORAL_TLS || wanted) && {
      tls: {
        ...defined({ serverRootCACertificate: ca }),
        ...(crt !== undefined && key !== undefined && { clientCertPair: { crt, key } }),
      },
    }),
  };
}

/**
 * Slack's URLs and signing secret, and the Slack app by which organizations connect. Without its client id or its
 * client secret there is no app.
 */
function slackOf(v: z.infer<typeof environment>) {
  const { SLACK_CLIENT_ID: clientId, SLACK_CLIENT_SECRET: clientSecret } = v;
  return {
    apiUrl: withPath(v.SERVICE_URLS.slack, '/api/').replace(/\/?$/, '/'),
    authorizeUrl: withPath(v.SERVICE_URLS.slack_consent, '/oauth/v2/authorize'),
    app: clientId === undefined || clientSecret === undefined ? undefined : { clientId, clientSecret },
    signingSecret: v.SLACK_SIGNING_SECRET,
  };
}

/** Adds `path` to an address without a path: operators often set only the host of a proxy or an emulator. */
function withPath(address: string, path: string): string {
  const url = new URL(address);
  if (url.pathname === '/') url.pathname = path;
  return url.href;
}

/** For each rate limit, how many uses (`points`) are allowed in how many `seconds`. */
function ratesOf(limit: (name: string) => number) {
  const entries = rateNames.map((name) => [name, { points: limit(rateLimit(name)), seconds: rateSeconds(name) }]);
  return Object.fromEntries(entries) as Record<RateName, { points: number; seconds: number }>;
}

/**
 * The secret keys, the current one first. The current key encrypts and decrypts. The older keys only decrypt values
 * that were encrypted with them.
 */
function secretKeysOf(given: readonly string[], dataDir: string): readonly [Buffer, ...Buffer[]] {
  const bytes = (key: string): Buffer => Buffer.from(key, 'hex');
  const [current = keptSecretKey(dataDir), ...older] = given;
  return [bytes(current), ...older.map(bytes)];
}

/**
 * The key in DATA_DIR, created by the first process that needs it. A hard link makes the file appear with its whole
 * content, so that no process reads half a key.
 */
function keptSecretKey(dataDir: string): string {
  const path = join(dataDir, 'secret.key');
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(draft, randomBytes(32).toString('hex'), { mode: 0o600 });
  } catch (error) {
    throw new ConfigError(`DATA_DIR ${dataDir} cannot be written: ${(error as Error).message}`);
  }
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
  const key = readFileSync(path, 'utf8').trim();
  if (!/^[0-9a-f]{64}$/.test(key)) throw new ConfigError(`${path} does not hold a key; restore it, or set SECRET_KEY.`);
  return key;
}
