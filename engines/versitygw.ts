/**
 * Builds versitygw, a server that speaks the S3 protocol and stores objects in a folder. Tests and `npm run cluster`
 * use it.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { makeFolder } from './cache.ts';
import type { Report } from './cache.ts';
import { startServer, untilReady, type Server } from './child.ts';
import { findWithGo } from './go.ts';
import { accepts, freePort } from './ports.ts';

const version = '1.8.0';

/** The path of the program. @throws EngineError without Go. */
export async function findVersitygw(report: Report): Promise<string> {
  const told = 'building versitygw with Go; once per machine, a few minutes';
  const targets = [`github.com/versity/versitygw/cmd/versitygw@v${version}`];
  const folder = await findWithGo({ name: 'versitygw', version, told, targets, packages: 900 }, report);
  return join(folder, 'versitygw');
}

export type ObjectStore = Server & {
  /** The environment of processes that store the search index in this server. */
  env: Record<string, string>;
  url: string;
};

/**
 * Starts a server that stores its objects in `folder`. `bucket`: the name of the bucket, which is a folder in `folder`.
 */
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
  const server = await startServer({
    command,
    args: [...keys, '--port', `127.0.0.1:${port}`, '--quiet', 'posix', folder],
    env: { PATH: process.env['PATH'] },
    logPath: `${folder}.log`,
    graceMs: 5_000,
    ready: (child) => untilReady('versitygw', child, 15_000, () => accepts(port)),
  });
  return {
    env: {
      SEARCH_URI: `s3://${bucket}/index`,
      SERVICE_URLS: `s3=${url}`,
      AWS_ACCESS_KEY_ID: access,
      AWS_SECRET_ACCESS_KEY: secret,
      AWS_REGION: region,
    },
    url,
    ...server,
  };
}
