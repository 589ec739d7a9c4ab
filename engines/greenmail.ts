/**
 * Fetches GreenMail (Java), an in-memory mail server with SMTP and IMAP, for tests. It is started by
 * test/kit/greenmail.ts.
 */
import type { Report } from './cache.ts';
import { findJar } from './maven.ts';

const version = '2.1.13';

/** The path of GreenMail's jar. @throws EngineError without Maven and Java. */
export const findGreenMail = (report: Report): Promise<string> =>
  findJar(
    {
      name: 'greenmail',
      version,
      artifact: `com.icegreen:greenmail-standalone:${version}`,
      file: `greenmail-standalone-${version}.jar`,
      sha256: '21b361e46e8ffe83afe7915a2b01231c4a163c8d0fa5de607e32ed19732d908d',
      label: `the mail server GreenMail ${version} (11 MB)`,
    },
    report,
  );
