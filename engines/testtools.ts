/**
 * Finds or builds the programs that only tests need. Each key is the environment variable from which the tests read the
 * program's path.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Report } from './cache.ts';
import { findWithGo } from './go.ts';
import { findJar } from './maven.ts';
import { findPython } from './python.ts';

const greenMail = '2.1.13';
const zipkin = '3.5.1';
/** The version of the Go modules of Prometheus 3.16.0, which differs from the version of the release. */
const promtool = '0.316.0';
const collector = '0.148.0';
const collectorCore = 'go.opentelemetry.io/collector';
const collectorContributed = 'github.com/open-telemetry/opentelemetry-collector-contrib';

/** The manifest for OpenTelemetry's builder, which lists the components of the collector. */
const manifest = (folder: string): string => `dist:
  name: collector
  output_path: ${folder}
receivers:
  - gomod: ${collectorCore}/receiver/otlpreceiver v${collector}
exporters:
  - gomod: ${collectorContributed}/exporter/zipkinexporter v${collector}
`;

/**
 * Each function returns the path of a program, or of a Python interpreter that can import a library. @throws
 * EngineError
 */
export const testTools = {
  /** Schemathesis's program `st`, which fuzzes the API according to its OpenAPI document. */
  TEST_SCHEMATHESIS: (report: Report) =>
    findPython(
      { name: 'schemathesis', version: '4.32.5', program: 'st', check: ['--version'], purpose: 'Fuzzing the API' },
      report,
    ),
  /** The Python library of Standard Webhooks, which verifies outgoing webhooks. */
  TEST_STANDARDWEBHOOKS: (report: Report) =>
    findPython(
      {
        name: 'standardwebhooks',
        version: '1.1.0',
        program: 'python',
        check: ['-c', 'import standardwebhooks'],
        purpose: 'Verifying webhooks',
      },
      report,
    ),
  /** The mail server GreenMail, in memory, with SMTP and IMAP. */
  TEST_GREENMAIL: (report: Report) =>
    findJar(
      {
        name: 'greenmail',
        version: greenMail,
        artifact: `com.icegreen:greenmail-standalone:${greenMail}`,
        file: `greenmail-standalone-${greenMail}.jar`,
        sha256: '21b361e46e8ffe83afe7915a2b01231c4a163c8d0fa5de607e32ed19732d908d',
        label: `the mail server GreenMail ${greenMail} (11 MB)`,
      },
      report,
    ),
  /**
   * LocalStack, which emulates Amazon SNS and S3. Newer versions need a Python newer than 3.11, or a licence token.
   */
  TEST_LOCALSTACK: (report: Report) =>
    findPython(
      {
        name: 'localstack-core',
        extras: ['base-runtime'],
        version: '4.9.0',
        // LocalStack allows any version of these packages, but fails with some.
        beside: [
          'moto-ext[s3,sns,ses]==5.1.12.post22',
          'service_identity==24.2.0',
          'cryptography<47',
          'pyopenssl==25.3.0',
          'cbor2<6',
        ],
        fromSource: ['tailer'],
        program: 'python',
        check: ['-c', 'import localstack.runtime.main, moto.s3, moto.sns, OpenSSL'],
        purpose: 'The tests of mail that comes by Amazon SNS',
      },
      report,
    ),
  /** The checker of Prometheus, which checks and runs the alert rules of monitoring/. */
  TEST_PROMTOOL: async (report: Report) => {
    const told = 'building promtool with Go; once per machine, about a minute';
    const targets = [`github.com/prometheus/prometheus/cmd/promtool@v${promtool}`];
    // This tag leaves out cloud service discovery, which would be most of the build. promtool checks rules without it.
    const tags = 'remove_all_sd';
    const wanted = { name: 'promtool', version: promtool, told, targets, tags, packages: 1050 };
    return join(await findWithGo(wanted, report), 'promtool');
  },
  /** Zipkin, a server that stores traces and shows them. */
  TEST_ZIPKIN: (report: Report) =>
    findJar(
      {
        name: 'zipkin',
        version: zipkin,
        artifact: `io.zipkin:zipkin-server:${zipkin}:jar:exec`,
        file: `zipkin-server-${zipkin}-exec.jar`,
        sha256: '7ac633a6832647e71e50012a5e3e91fbc7054414955261724526030faf271d8d',
        label: `the tracing system Zipkin ${zipkin} (131 MB)`,
      },
      report,
    ),
  /** An OpenTelemetry collector that takes traces over HTTP and hands them to Zipkin. */
  TEST_COLLECTOR: async (report: Report) => {
    const told = 'building an OpenTelemetry collector with Go; once per machine, two minutes';
    const targets = [`${collectorCore}/cmd/builder@v${collector}`];
    const builds = async (folder: string) => {
      const config = join(folder, 'builder.yaml');
      await writeFile(config, manifest(join(folder, 'built')));
      return ['--config', config];
    };
    const label = 'the collector';
    const wanted = { name: 'collector', label, version: collector, told, targets, builds, packages: 700 };
    return join(await findWithGo(wanted, report), 'built', 'collector');
  },
} satisfies Record<string, (report: Report) => Promise<string>>;
