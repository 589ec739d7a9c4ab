/**
 * Reads what `npm run cluster` (cluster.ts) needs from docker-compose.yml, so that the cluster matches a deployment.
 */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

const file = readFileSync(new URL('../../docker-compose.yml', import.meta.url), 'utf8');
// `maxAliasCount` is off, because the parser otherwise refuses a file with this many YAML aliases as an attack.
const compose = parse(file, { merge: true, maxAliasCount: -1 }) as {
  'x-environment': Record<string, string>;
  services: {
    mongo1: { healthcheck: { test: string[] } };
    redis: { command: string[] };
    temporal1: { environment: { NUM_HISTORY_SHARDS: string } };
  };
  configs: Record<'temporal-dynamic' | 'haproxy', { content: string }>;
};
const { services, configs, 'x-environment': environment } = compose;

/** Returns the address of a service. `port`: the service's port in docker-compose.yml. */
type At = (service: string, port: number) => string;

/** Replaces each `service:port` in the text by the service's address. */
const placed = (text: string, at: At): string =>
  text.replace(/\b([a-z]+\d?):(\d{4,5})\b/g, (_address, service: string, port: string) => at(service, Number(port)));

const named = (pattern: RegExp): string[] => Object.keys(services).filter((name) => pattern.test(name));

/** MongoDB's replica set, from the command with which its first member creates it. */
const replicaSet = JSON.parse(/rs\.initiate\((.+?)\)/.exec(services.mongo1.healthcheck.test.join(' '))![1]!) as {
  _id: string;
  members: { host: string }[];
  settings: object;
};
export const mongo = {
  members: replicaSet.members.map(({ host }) => host.split(':')[0]!),
  set: replicaSet._id,
  settings: replicaSet.settings,
};

export const redisOptions = services.redis.command.slice(1);

export const temporal = {
  nodes: named(/^temporal\d/),
  historyShards: Number(services.temporal1.environment.NUM_HISTORY_SHARDS),
  /** The dynamic configuration as Temporal reads it, in YAML. */
  dynamicConfig: configs['temporal-dynamic'].content,
};

/** The S3 URI of the search index, with bucket and prefix. */
const uri = /s3:[\w/]+/.exec(environment['SEARCH_URI']!)![0];
export const index = { uri, bucket: new URL(uri).host };

export const apis = named(/^api\d/);
export const embeddingServices = named(/^embedding\d/);
export const workers = named(/^worker-/).map((name) => ({ name, fleet: name.slice('worker-'.length) }));

/**
 * The environment that the API and the workers share. Values with `$` are left out, because Docker Compose fills them
 * from the operator's variables.
 */
export const appEnvironment = (at: At): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment)
      .filter(([, value]) => !value.includes('$'))
      .map(([name, value]) => [name, placed(value, at)]),
  );

/**
 * The configuration of HAProxy, changed to run without Docker and without a proxy before it. `bind`: the address at
 * which HAProxy takes requests to the API.
 */
export const haproxyConfig = (at: At, bind: string): string =>
  placed(configs.haproxy.content, at)
    .replace('resolvers docker\n  nameserver dns 127.0.0.11:53\n', '')
    .replaceAll(' resolvers docker init-addr none', '')
    .replace('bind :3000', `bind ${bind}`)
    .replace('bind :7233', `bind ${at('balancer', 7233)}`)
    .replace('${TRUSTED_PROXIES:-}', '');
