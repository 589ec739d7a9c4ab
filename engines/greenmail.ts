/** Downloads GreenMail (Java), an in-memory mail server with SMTP and IMAP, for tests. */
import { join } from 'node:path';
import { rm } from 'node:fs/promises';
import { EngineError, cached, onPath, run, verify } from './cache.ts';
import type { Report } from './cache.ts';

const version = '2.1.13';
const jarSha256 = '21b361e46e8ffe83afe7915a2b01231c4a163c8d0fa5de607e32ed19732d908d';
const jar = `greenmail-standalone-${version}.jar`;

/** The path of GreenMail's jar; test/kit/greenmail.ts starts it. */
export async function findGreenMail(report: Report): Promise<string> {
  const folder = await cached({ name: 'greenmail', version, report }, async (temporary) => {
    if ((await onPath('mvn')) === undefined)
      throw new EngineError(
        'The tests of mail need Maven and Java: install a JDK (17 or newer) and Maven, and try again.',
      );
    report(`obtaining the mail server GreenMail ${version} (11 MB)`);
    const repository = join(temporary, 'repository');
    const artifact = `com.icegreen:greenmail-standalone:${version}`;
    const goals = ['dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${temporary}`];
    await run('mvn', ['-q', '-B', '-C', `-Dmaven.repo.local=${repository}`, ...goals], {
      cwd: temporary,
      heartbeat: { text: '  still fetching GreenMail', report },
    }).catch((error: unknown) => {
      if (error instanceof EngineError) throw error;
      throw new EngineError(`Maven could not fetch GreenMail (${(error as Error).message}).`);
    });
    await verify(join(temporary, jar), jarSha256);
    await rm(repository, { recursive: true, force: true });
  });
  return join(folder, jar);
}
