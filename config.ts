/**
 * The only reader of environment variables: environment -> zod -> a frozen `Config`.
 * docs/configuration.md lists every variable; test/house/configuration.test.ts compares the two.
 */
import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { readEgressEntry } from './models/rules/base/address.ts';
import { readAddress, readMailbox } from './models/rules/access/mailbox.ts';
import { replySeparators } from './models/rules/events/replyaddress.ts';
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

/** What `LIMITS` may set, and what holds where it does not. */
export const defaultLimits: Readonly<Record<string, number>> = {
  sandbox_documents: 25,
  sandbox_pages: 200,
  plan_documents: 50,
  plan_pages: 1000,
  test_replies_per_minute: 10,
  test_conversations_per_month: 500,
  sockets: 10_000,
  sockets_per_address: 200,
  ...Object.fromEntries(rateNames.map((name) => [rateLimit(name), rates[name].points])),
};

/** How long a stopping process lets running work end, in seconds: less than the 30 that Kubernetes gives before it kills. */
export const drainSeconds: number = 20;

/** `name=number`, separated by commas; of two with the same name the last one holds. */
const limits = list.transform((entries, issues): Readonly<Record<string, number>> => {
  const set = { ...defaultLimits };
  for (const entry of entries) {
    const [, name, number] = /^(\w+)=(\d{1,15})$/.exec(entry) ?? [];
    // An organization may be allowed no documents or pages; of everything else, none would close the system.
    const least = name !== undefined && /_(?:documents|pages)$/.test(name) ? 0 : 1;
    if (name !== undefined && Object.hasOwn(set, name) && Number(number) >= least) set[name] = Number(number);
    else issues.addIssue({ code: 'custom', message: `${entry} is not a limit and its number (docs/configuration.md)` });
  }
  return set;
});

/** Every variable, its form and its default. */
export const environment = z.object({
  PORT: port.default(3000),
  HOST: z.string().default('127.0.0.1'),
  PUBLIC_URL: z.url().optional(),
  DATA_DIR: z.string().min(1).default('.data'),
  SEARCH_URI: z.string().optional(),
  MONGODB_URI: z.string().optional(),
  TEMPORAL_ADDRESS: z.string().optional(),
  TEMPORAL_NAMESPACE: z.string().min(1).default('default'),
  TEMPORAL_UI_URL: z.url({ protocol: /^https?$/ }).optional(),
  TASK_QUEUE_PREFIX: z
    .string()
    .regex(/^[\w.-]*$/)
    .default(''),
  FLEETS: list.optional(),
  WORKER_METRICS_PORT: port.optional(),
  EGRESS_ALLOW: hosts.default([]),
  CRAWL_CONCURRENCY: positive.max(16).default(2),
  PUPPETEER_EXECUTABLE_PATH: z.string().optional(),
  CHROMIUM_SANDBOX: z.stringbool().optional(),
  TRUST_PROXY: z.stringbool().default(false),
  SECRET_KEY: z
    .string()
    .regex(/^[0-9a-fA-F]{64}$/, 'must be 64 hexadecimal digits (32 bytes); make one with: openssl rand -hex 32')
    .optional(),
  SECRET_KEYS_OLDER: list
    .refine((keys) => keys.every((key) => /^[0-9a-fA-F]{64}$/.test(key)), 'must be keys of 64 hexadecimal digits each')
    .default([]),
  OIDC_PROVIDERS: oidcProviders.default({}),
  OPENAI_BASE_URL: z.url().optional(),
  OPENAI_API_KEY: z.string().optional(),
  OPENAI_MODEL: z.string().optional(),
  OPENAI_EMBEDDING_MODEL: z.string().optional(),
  OPENAI_TIMEOUT_MS: positive.default(30_000),
  MEETING_BOT_SERVICE: z.enum(['recall', 'attendee']).default('recall'),
  RECALL_API_KEY: z.string().optional(),
  RECALL_API_URL: z.url({ protocol: /^https?$/ }).optional(),
  RECALL_WEBHOOK_SECRET: z
    .string()
    .regex(/^whsec_[A-Za-z0-9+/_-]+=*$/, 'must begin with whsec_ and go on in Base64')
    .optional(),
  ATTENDEE_WEBHOOK_SECRET: z
    .string()
    .regex(/^[A-Za-z0-9+/]{16,}={0,2}$/, 'must be the webhook secret in Base64, as Attendee shows it')
    .optional(),
  EMBEDDING: z.enum(['embedded', 'off']).default('embedded'),
  EMBEDDING_FOLDER: z.string().optional(),
  EMBEDDING_NICENESS: z.coerce.number().int().min(0).max(19).default(10),
  SLACK_API_URL: z.url().default('https://slack.com/api/'),
  SLACK_AUTHORIZE_URL: z.url().default('https://slack.com/oauth/v2/authorize'),
  SLACK_CLIENT_ID: z.string().min(1).optional(),
  SLACK_CLIENT_SECRET: z.string().min(1).optional(),
  SLACK_SIGNING_SECRET: z.string().min(1).optional(),
  LINEAR_API_URL: z.url().default('https://api.linear.app/graphql'),
  LINEAR_WEBHOOK_SECRET: z.string().min(1).optional(),
  GITHUB_API_URL: z.url().default('https://api.github.com'),
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
  REPLY_SEPARATOR: z.enum(replySeparators).default('+'),
  TEAMS_OPENID_URL: z.url().default('https://login.botframework.com/v1/.well-known/openidconfiguration'),
  TEAMS_TOKEN_URL: z.url().default('https://login.microsoftonline.com/botframework.com/oauth2/v2.0/token'),
  TEAMS_APP_ID: z.string().min(1).optional(),
  TEAMS_APP_PASSWORD: z.string().min(1).optional(),
  TEAMS_WEBHOOK_SECRET: z
    .string()
    .regex(/^[A-Za-z0-9+/]{16,}={0,2}$/, 'must be the security token in base64, as Teams shows it')
    .optional(),
  SNS_TOPIC_ARNS: list.default([]),
  SNS_CERT_HOSTS: hosts.default([]),
  INBOUND_BUCKETS: list.default([]),
  S3_ENDPOINT: z.url().optional(),
  AWS_REGION: z
    .string()
    .regex(/^[a-z]{2}(?:-[a-z]+)+-\d$/, 'must be the name of a region, such as eu-central-1')
    .default('us-east-1'),
  AWS_ACCESS_KEY_ID: z.string().optional(),
  AWS_SECRET_ACCESS_KEY: z.string().optional(),
  AWS_SESSION_TOKEN: z.string().optional(),
  LIMITS: limits.prefault(''),
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
  const dataDir = resolve(v.DATA_DIR);
  const limit = (name: string): number => v.LIMITS[name]!;
  return Object.freeze({
    port: v.PORT,
    host: v.HOST,
    publicUrl: (v.PUBLIC_URL ?? `http://127.0.0.1:${v.PORT}`).replace(/\/$/, ''),
    dataDir,
    searchUri: v.SEARCH_URI ?? join(dataDir, 'search'),
    mongodbUri: v.MONGODB_URI,
    temporalAddress: v.TEMPORAL_ADDRESS,
    temporalNamespace: v.TEMPORAL_NAMESPACE,
    temporalUiUrl: v.TEMPORAL_UI_URL,
    taskQueuePrefix: v.TASK_QUEUE_PREFIX,
    fleets: v.FLEETS,
    workerMetricsPort: v.WORKER_METRICS_PORT,
    egressAllow: v.EGRESS_ALLOW,
    crawlerContact: v.PUBLIC_URL,
    crawlConcurrency: v.CRAWL_CONCURRENCY,
    chromiumPath: v.PUPPETEER_EXECUTABLE_PATH,
    chromiumSandbox: v.CHROMIUM_SANDBOX,
    trustProxy: v.TRUST_PROXY,
    secretKeys: secretKeysOf(v, dataDir),
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
      apiKey: v.RECALL_API_KEY,
      apiUrl: v.RECALL_API_URL ?? botServices[v.MEETING_BOT_SERVICE],
      webhookSecrets: { recall: v.RECALL_WEBHOOK_SECRET, attendee: v.ATTENDEE_WEBHOOK_SECRET },
    },
    embedding: { state: v.EMBEDDING, folder: v.EMBEDDING_FOLDER, niceness: v.EMBEDDING_NICENESS },
    quotas: {
      sandbox: { documents: limit('sandbox_documents'), knowledge_pages: limit('sandbox_pages') },
      production: { documents: limit('plan_documents'), knowledge_pages: limit('plan_pages') },
    },
    testRepliesPerMinute: limit('test_replies_per_minute'),
    testConversationsPerMonth: limit('test_conversations_per_month'),
    maxUploadBytes: maxFileBytes,
    slack: slackOf(v),
    linearApiUrl: withPath(v.LINEAR_API_URL, '/graphql'),
    githubApiUrl: v.GITHUB_API_URL.replace(/\/+$/, ''),
    linearWebhookSecret: v.LINEAR_WEBHOOK_SECRET,
    mail: {
      server: v.SMTP_URL === undefined ? undefined : readSmtpUrl(v.SMTP_URL),
      from: v.MAIL_FROM === undefined ? undefined : readMailbox(v.MAIL_FROM),
      replyDomain: v.REPLY_DOMAIN?.toLowerCase(),
      replySeparator: v.REPLY_SEPARATOR,
    },
    teams: {
      openidUrl: v.TEAMS_OPENID_URL,
      tokenUrl: v.TEAMS_TOKEN_URL,
      appId: v.TEAMS_APP_ID,
      webhookSecret: v.TEAMS_WEBHOOK_SECRET,
      app:
        v.TEAMS_APP_ID === undefined || v.TEAMS_APP_PASSWORD === undefined
          ? undefined
          : { appId: v.TEAMS_APP_ID, password: v.TEAMS_APP_PASSWORD, tokenUrl: v.TEAMS_TOKEN_URL },
    },
    sns: { topicArns: v.SNS_TOPIC_ARNS, certHosts: v.SNS_CERT_HOSTS },
    inboundBuckets: v.INBOUND_BUCKETS,
    s3: {
      endpoint: v.S3_ENDPOINT,
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
  });
}

/** Slack's addresses, and the app by which organizations connect; it needs both its id and its secret. */
function slackOf(v: z.infer<typeof environment>) {
  const { SLACK_CLIENT_ID: clientId, SLACK_CLIENT_SECRET: clientSecret } = v;
  return {
    apiUrl: withPath(v.SLACK_API_URL, '/api/').replace(/\/?$/, '/'),
    authorizeUrl: withPath(v.SLACK_AUTHORIZE_URL, '/oauth/v2/authorize'),
    app: clientId === undefined || clientSecret === undefined ? undefined : { clientId, clientSecret },
    signingSecret: v.SLACK_SIGNING_SECRET,
  };
}

/** An address without a path is given one: of a proxy or an emulator often only the host is known. */
function withPath(address: string, path: string): string {
  const url = new URL(address);
  if (url.pathname === '/') url.pathname = path;
  return url.href;
}

/** Where the services that send bots into calls are, unless RECALL_API_URL says otherwise. */
const botServices = {
  recall: 'https://us-east-1.recall.ai/api/v1',
  attendee: 'https://app.attendee.dev/api/v1',
} as const;

/** How many points each rate has, and over how many seconds. */
function ratesOf(limit: (name: string) => number) {
  const entries = rateNames.map((name) => [name, { points: limit(rateLimit(name)), seconds: rateSeconds(name) }]);
  return Object.fromEntries(entries) as Record<RateName, { points: number; seconds: number }>;
}

/** The key that seals, and after it those that only open what was sealed before. */
function secretKeysOf(
  { SECRET_KEY: given, SECRET_KEYS_OLDER: older }: z.infer<typeof environment>,
  dataDir: string,
): readonly [Buffer, ...Buffer[]] {
  const bytes = (key: string): Buffer => Buffer.from(key, 'hex');
  return [bytes(given ?? keptSecretKey(dataDir)), ...older.map(bytes)];
}

/** The key in DATA_DIR, created by the process that comes first: a hard link appears completely or not at all. */
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
