/**
 * The production shape as data: the services of a deployment and their settings. docker-compose.yml (compose.ts) and
 * `npm run cluster` (cluster.ts) are both made from this file. So the described deployment is the one that was run.
 */
import { queues } from '../../models/rules/base/work.ts';

/**
 * A MongoDB replica set. When its primary dies, the others elect a new one after `electionTimeoutMillis`; MongoDB's
 * default is 10 s.
 */
export const mongo = {
  members: ['mongo1', 'mongo2', 'mongo3'],
  set: 'rs0',
  settings: { electionTimeoutMillis: 3000 },
} as const;

/** Redis stores nothing on disk, because nothing in it needs to survive a restart. */
export const redisOptions: readonly string[] = ['--save', '', '--appendonly', 'no'];

export const temporal = {
  nodes: ['temporal1', 'temporal2'],
  /**
   * The number of shards cannot be changed after the first start. 512 are enough for three nodes of four cores, and
   * take 0.1 core when idle.
   */
  historyShards: 512,
  dynamicConfig: [
    {
      why: 'One partition a queue: with four, organizations take turns within each only, and a small one waits twice as long.',
      values: { 'matching.numTaskqueueReadPartitions': 1, 'matching.numTaskqueueWritePartitions': 1 },
    },
    {
      why: 'Organizations take turns.',
      values: { 'matching.useNewMatcher': true, 'matching.enableFairness': true },
    },
    {
      why: 'An activity goes back with the task that asked for it, to a worker that has room: one handing over less a message.',
      values: { 'system.enableActivityEagerExecution': true },
    },
  ],
} as const;

/** The dynamic configuration as Temporal reads it, in YAML. */
export const dynamicConfig = (): string =>
  temporal.dynamicConfig
    .map(({ why, values }) =>
      [`# ${why}`, ...Object.entries(values).map(([name, value]) => `${name}:\n  - value: ${value}`)].join('\n'),
    )
    .join('\n');

/** The bucket and the prefix of the search index. */
export const index = { bucket: 'index', uri: 's3://index/search' } as const;

export const apis = ['api1', 'api2'] as const;
export const embeddingServices = ['embedding1', 'embedding2'] as const;
/** One worker for each fleet. */
export const workers: readonly { name: string; fleet: string }[] = Object.keys(queues).map((fleet) => ({
  name: `worker-${fleet}`,
  fleet,
}));

/**
 * The environment that all of our processes share. `at` returns the address of a service, by its name and its usual
 * port.
 */
export function appEnvironment(at: (service: string, port: number) => string): Record<string, string> {
  return {
    MONGODB_URI: `mongodb://${mongo.members.map((name) => at(name, 27_017)).join(',')}/?replicaSet=${mongo.set}`,
    TEMPORAL_ADDRESS: at('balancer', 7233),
    REDIS_URL: `redis://${at('redis', 6379)}`,
    EMBEDDING: embeddingServices.map((name) => `http://${at(name, 3000)}`).join(','),
    TEMPORAL_PAYLOADS: 'encrypted',
    TRUST_PROXY: 'true',
  };
}

/**
 * The configuration of HAProxy, which balances the API and Temporal. A server that fails its health check gets no
 * requests until it passes again. The API's metrics cannot be read through the balancer. An answer must begin within 75
 * s; WebSockets and connections to Temporal may be silent for an hour. `docker`: container names are resolved again
 * while HAProxy runs, because their addresses change. `proxies`: the addresses of the proxies in front of HAProxy,
 * separated by spaces. HAProxy keeps the `X-Forwarded-For` that these proxies send. For any other caller, HAProxy
 * replaces this header by the caller's address, because a caller may write any address into it.
 */
export function haproxyConfig(
  at: (service: string, port: number) => string,
  { bind, temporalBind, docker, proxies }: { bind: string; temporalBind: string; docker: boolean; proxies: string },
): string {
  const resolved = docker ? ' resolvers docker init-addr none' : '';
  const servers = (names: readonly string[], port: number) =>
    names.map((name) => `  server ${name} ${at(name, port)}${resolved}`).join('\n');
  return `${docker ? 'resolvers docker\n  nameserver dns 127.0.0.11:53\n' : ''}defaults
  timeout connect 2s
  timeout client 75s
  timeout server 75s
  timeout tunnel 1h
  option redispatch
  default-server check inter 1s fall 2 rise 2
frontend api
  mode http
  bind ${bind}
  option forwardfor if-none
  http-request del-header X-Forwarded-For unless { src -- ${proxies} }
  http-request deny deny_status 404 if { path -i /metrics /metrics/ }
  default_backend api
backend api
  mode http
  balance leastconn
  option httpchk
  http-check send meth GET uri /health/serving
  http-check expect status 200
${servers(apis, 3000)}
listen temporal
  mode tcp
  bind ${temporalBind}
  balance roundrobin
  timeout client 1h
  timeout server 1h
  default-server on-marked-down shutdown-sessions
${servers(temporal.nodes, 7233)}
`;
}
