/**
 * The worker program in a world of the test's making: names are resolved by the test's name server (TEST_DNS, its port), a
 * public address leads to this machine (TEST_INTERNET) and none leads out of it, requests have the limits of TEST_LIMITS
 * (ms), and with HOLD_AT (JSON, n by organization) the worker says `held` when the n-th write to the index of that
 * organization is done, and goes on when told `go`.
 * Client, resolver, checks and sockets are the real ones.
 */
import { Resolver } from 'node:dns';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { createHttp, type Lookup } from '../../clients/http/http.ts';
import { createPages } from '../../clients/site/pages.ts';
import { createSites } from '../../clients/site/site.ts';
import { readConfig } from '../../config.ts';
import type { WorkerDeps } from '../../workers/slices/slice.ts';
import { startWorkers } from '../../workers/main.ts';

const { env } = process;

/**
 * Lets the connections of this process to `address` end at 127.0.0.1, and refuses those that would leave the machine. It
 * is done below everything that decides about addresses: where the system is asked to connect.
 */
async function simulateInternet(address: string | undefined): Promise<void> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  type Handle = { connect(request: unknown, to: string, port: number): number };
  const handle = Object.getPrototypeOf((server as unknown as { _handle: Handle })._handle) as Handle;
  const { connect } = handle;
  handle.connect = function (this: Handle, request, to, port) {
    if (to !== address && !to.startsWith('127.')) throw new Error(`a test tried to reach ${to}`);
    return connect.call(this, request, to === address ? '127.0.0.1' : to, port);
  };
  server.close();
}

/** Asks the name server each time, and ignores the system's own table of hosts. */
function lookupAt(port: string): Lookup {
  const resolver = new Resolver();
  resolver.setServers([`127.0.0.1:${port}`]);
  return (hostname, _, callback) => {
    resolver.resolve4(hostname, (error, addresses) =>
      callback(error, error ? [] : addresses.map((address) => ({ address, family: 4 }))),
    );
  };
}

const holdAt = JSON.parse(env['HOLD_AT'] ?? '{}') as Record<string, number>;
const writes = new Map<string, number>();
async function hold(orgId: string): Promise<void> {
  const count = (writes.get(orgId) ?? 0) + 1;
  writes.set(orgId, count);
  if (count !== holdAt[orgId]) return;
  process.send?.({ type: 'held', orgId });
  await once(process, 'message');
}

const config = readConfig(env);
const http = createHttp({
  userAgent: 'TestBot/1.0 (+https://bot.example)',
  egressAllow: config.egressAllow,
  limits: JSON.parse(env['TEST_LIMITS'] ?? '{}') as object,
  ...(env['TEST_DNS'] === undefined ? {} : { lookup: lookupAt(env['TEST_DNS']) }),
});
const pages = createPages();

function adapt(deps: WorkerDeps): WorkerDeps {
  return {
    ...deps,
    sites: createSites({ http, pages, agent: 'TestBot', clock: deps.clock }),
    search: {
      ...deps.search,
      async add(table, rows) {
        await deps.search.add(table, rows);
        await hold(table.org_id);
      },
    },
  };
}

await simulateInternet(env['TEST_INTERNET']);
const code = await readFile(env['TEST_WORKFLOW_BUNDLE']!, 'utf8');
const workers = await startWorkers(config, adapt, { code });
const close = async (): Promise<void> => {
  await workers.close();
  await Promise.all([pages.close(), http.close()]);
  process.exit(0);
};
for (const event of ['SIGTERM', 'disconnect'] as const) process.on(event, () => void close());
process.send?.({ type: 'ready' });
