/**
 * Builds an OpenTelemetry collector that takes traces over HTTP and hands them to Zipkin. It is for tests and for the
 * picture of a trace in docs/screenshots. test/kit/zipkin.ts starts the collector and Zipkin.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cached } from './cache.ts';
import type { Report } from './cache.ts';
import { buildWithGo } from './go.ts';

const version = '0.148.0';
const core = 'go.opentelemetry.io/collector';
const contributed = 'github.com/open-telemetry/opentelemetry-collector-contrib';

/** The manifest for the tool that builds collectors. */
const manifest = (folder: string): string => `dist:
  name: collector
  output_path: ${folder}
receivers:
  - gomod: ${core}/receiver/otlpreceiver v${version}
exporters:
  - gomod: ${contributed}/exporter/zipkinexporter v${version}
`;

/** The path of the program. @throws EngineError without Go. */
export async function findCollector(report: Report): Promise<string> {
  const folder = await cached({ name: 'collector', version, report }, async (temporary) => {
    report('building an OpenTelemetry collector with Go; once per machine, two minutes');
    const config = join(temporary, 'builder.yaml');
    await writeFile(config, manifest(join(temporary, 'built')));
    const targets = [`${core}/cmd/builder@v${version}`];
    await buildWithGo(
      { name: 'the collector', targets, packages: 700, builds: ['--config', config] },
      temporary,
      report,
    );
  });
  return join(folder, 'built', 'collector');
}
