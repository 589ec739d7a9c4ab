/** Amazon SNS and S3 on this machine, by LocalStack: signed topics with subscriptions, and buckets. */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AwsV4Signer } from 'aws4fetch';
import { startServer, untilReady } from '../../engines/child.ts';
import { freePort } from '../../engines/ports.ts';

export type LocalStack = {
  url: string;
  /** The ARN of a topic, which need not exist yet. */
  topicArn(name: string): string;
  /** Calls SNS and returns the text of its answer. Throws when SNS refuses. */
  sns(action: string, fields: Record<string, string>): Promise<string>;
  /** Stores an object; creates its bucket when it is missing. */
  put(bucket: string, key: string, body: string): Promise<void>;
  close(): Promise<void>;
};

const credentials = { accessKeyId: 'test', secretAccessKey: 'test', region: 'us-east-1' };
/** The environment variables with the credentials that LocalStack accepts. */
export const awsEnv = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test', AWS_REGION: credentials.region };
const account = '000000000000';

export async function startLocalStack(): Promise<LocalStack> {
  const [port, folder] = [await freePort(), await mkdtemp(join(tmpdir(), 'support-localstack-'))];
  const host = `127.0.0.1:${port}`;
  const url = `http://${host}`;
  const { stop } = await startServer({
    command: process.env['TEST_LOCALSTACK']!,
    args: ['-m', 'localstack.runtime.main'],
    logPath: join(folder, 'log'),
    cwd: folder,
    folder,
    graceMs: 10_000,
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      SERVICES: 's3,sns,sqs',
      STRICT_SERVICE_LOADING: '1',
      GATEWAY_LISTEN: host,
      LOCALSTACK_HOST: host,
      FILESYSTEM_ROOT: folder,
      LOCALSTACK_VOLUME_DIR: folder,
      // LocalStack must not connect to other machines.
      DNS_ADDRESS: '0',
      DISABLE_EVENTS: '1',
      SKIP_SSL_CERT_DOWNLOAD: '1',
    },
    ready: (child) =>
      untilReady('LocalStack', child, 120_000, () =>
        fetch(`${url}/_localstack/health`).then(
          ({ ok }) => ok,
          () => false,
        ),
      ),
  });
  const call = async (service: string, method: string, path: string, body: string, type?: string): Promise<string> => {
    const headers = type === undefined ? {} : { 'content-type': type };
    const signed = await new AwsV4Signer({
      ...credentials,
      service,
      method,
      url: `${url}${path}`,
      body,
      headers,
    }).sign();
    const response = await fetch(signed.url, { method, headers: signed.headers, body });
    const text = await response.text();
    if (!response.ok) throw new Error(`LocalStack answered ${response.status} to ${method} ${path}: ${text}`);
    return text;
  };
  const buckets = new Set<string>();
  return {
    url,
    topicArn: (name) => `arn:aws:sns:${credentials.region}:${account}:${name}`,
    sns: (Action, fields) =>
      call(
        'sns',
        'POST',
        '/',
        new URLSearchParams({ Action, Version: '2010-03-31', ...fields }).toString(),
        'application/x-www-form-urlencoded; charset=utf-8',
      ),
    async put(bucket, key, body) {
      if (!buckets.has(bucket)) await call('s3', 'PUT', `/${bucket}`, '');
      buckets.add(bucket);
      await call('s3', 'PUT', `/${bucket}/${key}`, body);
    },
    close: stop,
  };
}
