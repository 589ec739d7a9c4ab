/** Builds the Temporal server and the tool that makes its tables. `npm run cluster` runs both; `npm start` does not. */
import { join } from 'node:path';
import type { Report } from './cache.ts';
import { findWithGo } from './go.ts';

/** The version of the server in docker-compose.yml, and of the development server. */
export const serverVersion = '1.29.1';

/** The paths of both programs. @throws EngineError without Go */
export async function findTemporalServer(report: Report): Promise<{ server: string; schemaTool: string }> {
  const module = 'go.temporal.io/server/cmd';
  const folder = await findWithGo(
    {
      name: 'temporal-server',
      label: "Temporal's server",
      version: serverVersion,
      told: `building Temporal's server ${serverVersion} with Go; once per machine, a few minutes`,
      targets: [`${module}/server@v${serverVersion}`, `${module}/tools/sql@v${serverVersion}`],
      packages: 1200,
    },
    report,
  );
  return { server: join(folder, 'server'), schemaTool: join(folder, 'sql') };
}
