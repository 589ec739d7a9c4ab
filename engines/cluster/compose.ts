/**
 * Makes docker-compose.yml from shape.ts. `npm run -s compose > docker-compose.yml` writes the file, and a test checks
 * that it is up to date.
 */
import { stringify } from 'yaml';
import { serverVersion } from '../temporalserver.ts';
import * as shape from './shape.ts';

const heading = `# The production shape, made by \`npm run -s compose\` of engines/cluster/shape.ts, which also \`npm run cluster\` runs.
# It needs SECRET_KEY, POSTGRES_PASSWORD, S3_SECRET and PUBLIC_URL in the environment or in .env. Only the balancer is
# published to the network; the Temporal UI is published to this machine. TRUSTED_PROXIES are the addresses of the TLS
# proxy before the balancer, separated by spaces. The index is in this deployment's own S3: to use Amazon S3, set
# SEARCH_URI, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and SERVICE_URLS to nothing. Mails in S3 are read from the
# same place with the same key, so INBOUND_BUCKETS counts only with SEARCH_URI. To set other addresses, begin
# SERVICE_URLS with s3=http://s3:7070; temporal_ui is where operators open the Temporal UI.
`;

/** Environment variables of the operator that are passed on to our processes when they are set. */
const optional = [
  'LIMITS',
  'OPENAI_BASE_URL',
  'OPENAI_API_KEY',
  'OPENAI_MODEL',
  'OPENAI_EMBEDDING_MODEL',
  'LINEAR_WEBHOOK_SECRET',
  'SLACK_CLIENT_ID',
  'SLACK_CLIENT_SECRET',
  'SLACK_SIGNING_SECRET',
  'TEAMS_APP_ID',
  'TEAMS_APP_PASSWORD',
  'TEAMS_WEBHOOK_SECRET',
  'SMTP_URL',
  'MAIL_FROM',
  'REPLY_DOMAIN',
  'SNS_TOPIC_ARNS',
  'OIDC_PROVIDERS',
  'MEETING_BOT_SERVICE',
  'MEETING_BOT_API_KEY',
  'MEETING_BOT_WEBHOOK_SECRET',
];

/** In Docker's network a service is reached by its name, at its usual port. */
const at = (service: string, port: number): string => `${service}:${port}`;
const healthy = (...names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, { condition: 'service_healthy' }]));
const restart = 'unless-stopped';
const every5s = { interval: '5s', retries: 30 };
const s3Secret = '${S3_SECRET:?make one with openssl rand -hex 18}';
const postgresPassword = '${POSTGRES_PASSWORD:?choose one}';

const environment = {
  ...shape.appEnvironment(at),
  SECRET_KEY: '${SECRET_KEY:?make one with openssl rand -hex 32}',
  PUBLIC_URL: '${PUBLIC_URL:?the address that customers reach}',
  SEARCH_URI: `\${SEARCH_URI:-${shape.index.uri}}`,
  SERVICE_URLS: `\${SERVICE_URLS-s3=http://${at('s3', 7070)}}`,
  AWS_REGION: '${AWS_REGION:-us-east-1}',
  AWS_ACCESS_KEY_ID: '${AWS_ACCESS_KEY_ID:-support}',
  AWS_SECRET_ACCESS_KEY: `\${AWS_SECRET_ACCESS_KEY:-${s3Secret}}`,
  ...Object.fromEntries(optional.map((name) => [name, `\${${name}:-}`])),
  // The mails are in Amazon S3, and a process has one S3 server for the mails and the index. Without SEARCH_URI, this
  // is the deployment's own server, which has no mails. So INBOUND_BUCKETS is passed on only with SEARCH_URI.
  INBOUND_BUCKETS: '${SEARCH_URI:+${INBOUND_BUCKETS:-}}',
};

const app = {
  build: '.',
  image: 'support-platform',
  restart,
  // The grace period is longer than the 20 s for which a stopping process waits for running work. So Docker does not
  // kill the process earlier.
  stop_grace_period: '30s',
};

/** The members of MongoDB's replica set. The first one creates the set at its first start, when the others answer. */
function mongo() {
  const { members, set, settings } = shape.mongo;
  const config = { _id: set, members: members.map((name, _id) => ({ _id, host: at(name, 27_017) })), settings };
  const test = (first: boolean): string =>
    first
      ? `try { rs.status() } catch { rs.initiate(${JSON.stringify(config)}) } quit(db.hello().primary ? 0 : 1)`
      : 'quit(db.adminCommand("ping").ok ? 0 : 1)';
  return members.map((name, n) => [
    name,
    {
      image: 'mongo:8.0.13',
      restart,
      command: ['mongod', '--replSet', set, '--bind_ip_all'],
      volumes: [`${name}:/data/db`],
      healthcheck: { test: ['CMD', 'mongosh', '--quiet', '--eval', test(n === 0)], ...every5s },
      ...(n === 0 ? { depends_on: healthy(...members.slice(1)) } : {}),
    },
  ]);
}

/** The nodes of Temporal. The first node creates the tables and the namespace; the other nodes start after it. */
function temporal() {
  return shape.temporal.nodes.map((name, n) => [
    name,
    {
      image: `temporalio/${n === 0 ? 'auto-setup' : 'server'}:${serverVersion}`,
      restart,
      environment: {
        DB: 'postgres12',
        DB_PORT: '5432',
        POSTGRES_SEEDS: 'postgresql',
        POSTGRES_USER: 'temporal',
        POSTGRES_PWD: postgresPassword,
        DYNAMIC_CONFIG_FILE_PATH: '/etc/temporal/dynamic.yaml',
        NUM_HISTORY_SHARDS: String(shape.temporal.historyShards),
      },
      configs: [{ source: 'temporal-dynamic', target: '/etc/temporal/dynamic.yaml' }],
      depends_on: healthy('postgresql', ...shape.temporal.nodes.slice(0, n)),
      healthcheck: {
        test:
          n === 0
            ? ['CMD', 'temporal', 'operator', 'cluster', 'health', '--address', at(name, 7233)]
            : ['CMD-SHELL', 'nc -z $$(hostname) 7233'],
        ...every5s,
      },
    },
  ]);
}

function ours(name: string, entry: string, own: object, more: object = {}) {
  return [name, { '<<': app, command: ['node', entry], environment: own, ...more }] as const;
}

export function compose(): string {
  const needs = { depends_on: healthy(shape.mongo.members[0], 'balancer') };
  const answers = {
    healthcheck: {
      test: [
        'CMD',
        'node',
        '-e',
        'fetch("http://127.0.0.1:3000/health/serving").then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))',
      ],
      interval: '10s',
    },
  };
  const services = Object.fromEntries([
    ...mongo(),
    ['redis', { image: 'redis:7.0.15', restart, command: ['redis-server', ...shape.redisOptions] }],
    [
      's3',
      {
        image: 'versity/versitygw:v1.8.0',
        restart,
        command: ['--access', 'support', '--secret', s3Secret, '--port', ':7070', '--quiet', 'posix', '/data'],
        volumes: ['s3:/data'],
      },
    ],
    [
      'postgresql',
      {
        image: 'postgres:15.18',
        restart,
        environment: { POSTGRES_USER: 'temporal', POSTGRES_PASSWORD: postgresPassword },
        volumes: ['postgresql:/var/lib/postgresql/data'],
        healthcheck: { test: ['CMD', 'pg_isready', '-U', 'temporal'], ...every5s },
      },
    ],
    ...temporal(),
    [
      'temporal-ui',
      {
        image: 'temporalio/ui:2.42.1',
        restart,
        environment: {
          TEMPORAL_ADDRESS: at('balancer', 7233),
          // The operator's browser calls this endpoint, so the URL must be the public one. The server of the Temporal
          // UI does not call it.
          TEMPORAL_CODEC_ENDPOINT: '${PUBLIC_URL}/codec',
          TEMPORAL_CODEC_INCLUDE_CREDENTIALS: 'true',
        },
        ports: ['127.0.0.1:8080:8080'],
        depends_on: healthy('balancer'),
      },
    ],
    [
      'balancer',
      {
        image: 'haproxy:2.6.12',
        restart,
        configs: [{ source: 'haproxy', target: '/usr/local/etc/haproxy/haproxy.cfg' }],
        ports: ['3000:3000'],
        depends_on: healthy(shape.temporal.nodes[0]),
        healthcheck: { test: ['CMD-SHELL', 'haproxy -c -q -f /usr/local/etc/haproxy/haproxy.cfg'], ...every5s },
      },
    ],
    // The embedding services need no variables: the image sets the folders of their models and data, and their port.
    ...shape.embeddingServices.map((name) => [name, { '<<': app, command: ['node', 'workers/embedding.ts'] }] as const),
    ...shape.apis.map((name) => ours(name, 'api/server.ts', environment, { ...needs, ...answers })),
    ...shape.workers.map(({ name, fleet }) =>
      // Chromium leaves processes behind, which an init process must reap. So the worker that runs Chromium gets an
      // init process.
      ours(
        name,
        'workers/main.ts',
        { '<<': environment, FLEETS: fleet },
        { ...needs, ...(fleet === 'crawl' ? { init: true } : {}) },
      ),
    ),
  ]);
  const volumes = Object.fromEntries([...shape.mongo.members, 's3', 'postgresql'].map((name) => [name, null]));
  // Docker Compose fills in the variable. HAProxy's own variables are not used, because an empty one makes HAProxy
  // fail.
  const balanced = { bind: ':3000', temporalBind: ':7233', docker: true, proxies: '${TRUSTED_PROXIES:-}' };
  const configs = {
    'temporal-dynamic': { content: shape.dynamicConfig() },
    haproxy: { content: shape.haproxyConfig(at, balanced) },
  };
  const file = { name: 'support-platform', 'x-app': app, 'x-environment': environment, services, configs, volumes };
  return (
    heading +
    stringify(file, { merge: true, anchorPrefix: 'shared', lineWidth: 120, singleQuote: true, blockQuote: 'literal' })
  );
}

if (import.meta.main) process.stdout.write(compose());
