/**
 * The worker program in a simulated Internet. The name server of the test (port TEST_DNS) resolves names, the public
 * address TEST_INTERNET leads to this machine, and connections to other machines are refused. TEST_LIMITS sets the
 * limits of requests (ms). HOLD_AT is JSON with a number n for each organization id: after the n-th index write of that
 * organization, the worker reports `held` and waits for the message `go`. Client, resolver, checks and sockets are the
 * real ones.
 */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { lookupAt, simulateInternet } from './internet.ts';
import { runProgram } from '../../api/http/program.ts';
import { createHttp } from '../../clients/http/http.ts';
import { createPages } from '../../clients/crawl/site/pages.ts';
import { createSites } from '../../clients/crawl/site/site.ts';
import { readConfig } from '../../config.ts';
import type { WorkerDeps } from '../../workers/slices/slice.ts';
import { startWorkers } from '../../workers/main.ts';
import { buildReaders } from '../../workers/readers.ts';

const { env } = process;

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
const pages = createPages({ program: (await buildReaders(config.dataDir)).pages });

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
await runProgram(async () => {
  const workers = await startWorkers(config, adapt, { code });
  return {
    ...workers,
    async close() {
      await workers.close();
      await Promise.all([pages.close(), http.close()]);
    },
  };
});
