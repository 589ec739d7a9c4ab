/**
 * Builds versitygw, a server that speaks the S3 protocol and stores objects in a folder. Tests and `npm run cluster`
 * use it.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EngineError, cached, makeFolder } from './cache.ts';
import type { Report } from './cache.ts';
import { startGuarded } from './child.ts';
import type { Guarded } from './child.ts';
import { buildWithGo } from './go.ts';
import { accepts, freePort } from './ports.ts';

const version = '1.8.0';

/** The path of the program. @throws EngineError without Go. */
export async function findVersitygw(report: Report): Promise<string> {
  const folder = await cached({ name: 'versitygw', version, report }, async (temporary) => {
    report('building versitygw with Go; once per machine, a few minutes');
    await buildWithGo(
      { name: 'versitygw', targets: [`github.com/versity/versitygw/cmd/versitygw@v${version}`], packages: 900 },
      temporary,
      report,
    );
  });
  return join(folder, 'versitygw');
}

export type ObjectStore = {
  /** The environment of processes that store the search index in this server. */
  env: Record<string, string>;
  url: string;
  child: Guarded;
  stop(): Promise<void>;
};

/** Starts a server over `folder`, with the bucket `bucket`, which is a folder too. */
export async function startVersitygw(options: {
  folder: string;
  bucket: string;
  port?: number;
  report: Report;
}): Promise<ObjectStore> {
  const { folder, bucket, port = await freePort(), report } = options;
  const command = await findVersitygw(report);
  await makeFolder(join(folder, bucket));
  const url = `http://127.0.0.1:${port}`;
  const [access, secret, region] = ['support', randomBytes(18).toString('hex'), 'us-east-1'];
  const keys = ['--access', access, '--secret', secret, '--region', region];
  const child = await startGuarded({
    command,
    args: [...keys, '--port', `127.0.0.1:${port}`, '--quiet', 'posix', folder],
    env: { PATH: process.env['PATH'] },
    logPath: `${folder}.log`,
  });
  const deadline = Date.now() + 15_000;
  while (!(await accepts(port))) {
    if (!child.running() || Date.now() > deadline)
      throw new EngineError(`versitygw did not start. ${await child.explain()}`);
    await sleep(20);
  }
  return {
    env: {
      SEARCH_URI: `s3://${bucket}/index`,
      SERVICE_URLS: `s3=${url}`,
      AWS_ACCESS_KEY_ID: access,
      AWS_SECRET_ACCESS_KEY: secret,
      AWS_REGION: region,
    },
    url,
    child,
    stop: () => child.stop(5_000),
  };
}
