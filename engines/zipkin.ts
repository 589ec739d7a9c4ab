/** Fetches Zipkin (Java), a server that stores traces and shows them, for tests. test/kit/zipkin.ts starts it. */
import type { Report } from './cache.ts';
import { findJar } from './maven.ts';

const version = '3.5.1';

/** The path of Zipkin's jar. @throws EngineError without Maven and Java. */
export const findZipkin = (report: Report): Promise<string> =>
  findJar(
    {
      name: 'zipkin',
      version,
      artifact: `io.zipkin:zipkin-server:${version}:jar:exec`,
      file: `zipkin-server-${version}-exec.jar`,
      sha256: '7ac633a6832647e71e50012a5e3e91fbc7054414955261724526030faf271d8d',
      label: `the tracing system Zipkin ${version} (131 MB)`,
    },
    report,
  );
