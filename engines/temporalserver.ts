/** Builds the Temporal server and the tool that makes its tables. `npm run cluster` runs both; `npm start` does not. */
import { join } from 'node:path';
import { cached } from './cache.ts';
import type { Report } from './cache.ts';
import { buildWithGo } from './go.ts';

/** The version of the server in docker-compose.yml, and of the development server. */
export const serverVersion = '1.29.1';

/** The paths of both programs. @throws EngineError without Go */
export async function findTemporalServer(report: Report): Promise<{ server: string; schemaTool: string }> {
  const folder = await cached({ name: 'temporal-server', version: serverVersion, report }, async (temporary) => {
    report(`building Temporal's server ${serverVersion} with Go; once per machine, a few minutes`);
    const module = 'go.temporal.io/server/cmd';
    await buildWithGo(
      {
        name: "Temporal's server",
        targets: [`${module}/server@v${serverVersion}`, `${module}/tools/sql@v${serverVersion}`],
        packages: 1200,
      },
      temporary,
      report,
    );
  });
  return { server: join(folder, 'server'), schemaTool: join(folder, 'sql') };
}
