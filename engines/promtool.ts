/** Builds promtool, the checker of Prometheus, with which tests check and run the alert rules of monitoring/. */
import { join } from 'node:path';
import { cached } from './cache.ts';
import type { Report } from './cache.ts';
import { buildWithGo } from './go.ts';

/** The version of the Go modules of Prometheus 3.16.0, which differs from the version of the release. */
const version = '0.316.0';

/** The path of the program. @throws EngineError without Go. */
export async function findPromtool(report: Report): Promise<string> {
  const folder = await cached({ name: 'promtool', version, report }, async (temporary) => {
    report('building promtool with Go; once per machine, about a minute');
    await buildWithGo(
      {
        name: 'promtool',
        targets: [`github.com/prometheus/prometheus/cmd/promtool@v${version}`],
        packages: 1050,
        // This tag leaves out the service discovery of clouds. It would be most of the build, and promtool checks rules
        // without it.
        tags: 'remove_all_sd',
      },
      temporary,
      report,
    );
  });
  return join(folder, 'promtool');
}
