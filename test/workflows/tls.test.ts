/**
 * Temporal behind TLS with client certificates and an API key, like a hosted one: a proxy in front of the real server
 * demands both.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../config.ts';
import { selfSigned } from '../kit/certificate.ts';
import { apiAt } from '../kit/harness.ts';
import { removeDataDir, startProcess, systemEnv, type SystemEnv } from '../kit/processes.ts';

const apiKey = 'key-of-the-namespace';
const [server, client] = [selfSigned(['localhost']), selfSigned(['support'])];

let folder: string;
let proxy: http2.Http2SecureServer;
let behind: http2.ClientHttp2Session;
let env: SystemEnv;
/** The gRPC methods of the requests that the proxy has passed on. */
const passed = new Set<string>();
const sessions = new Set<http2.ServerHttp2Session>();

/** Passes a call on with its trailers, which contain its status. */
function forward(stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders): void {
  stream.on('error', () => undefined);
  if (headers.authorization !== `Bearer ${apiKey}`) {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '16' }, { endStream: true });
    return;
  }
  passed.add(String(headers[':path']).split('/').at(-1)!);
  const request = behind.request({ ...headers, ':authority': process.env['TEST_TEMPORAL_ADDRESS']! });
  let trailers: http2.IncomingHttpHeaders = {};
  request.on('error', () => stream.close());
  request.on('response', ({ ':status': status, ...rest }) =>
    stream.respond({ ':status': status ?? 502, ...rest }, { waitForTrailers: true }),
  );
  request.on('trailers', (sent) => (trailers = sent));
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  stream.on('close', () => request.close());
  stream.pipe(request).pipe(stream);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'temporaltls-'));
  const path = (name: string) => join(folder, name);
  await Promise.all(
    Object.entries({ 'ca.pem': server.cert, 'client.pem': client.cert, 'client.key': client.key }).map(([name, text]) =>
      writeFile(path(name), text),
    ),
  );
  behind = http2.connect(`http://${process.env['TEST_TEMPORAL_ADDRESS']}`);
  proxy = http2.createSecureServer({ ...server, ca: client.cert, requestCert: true, rejectUnauthorized: true });
  proxy.on('stream', forward);
  proxy.on('session', (session) => {
    sessions.add(session);
    session.on('error', () => undefined);
  });
  proxy.on('tlsClientError', () => undefined);
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  env = systemEnv('temporaltls', {
    TEMPORAL_ADDRESS: `localhost:${(proxy.address() as AddressInfo).port}`,
    TEMPORAL_API_KEY: apiKey,
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: path('ca.pem'),
    TEMPORAL_TLS_CLIENT_CERT_PATH: path('client.pem'),
    TEMPORAL_TLS_CLIENT_KEY_PATH: path('client.key'),
  });
});
afterAll(async () => {
  for (const session of sessions) session.destroy();
  proxy.close();
  behind.destroy();
  await removeDataDir(env);
  await rm(folder, { recursive: true, force: true });
});

it('the API and a worker work over TLS, with the client’s certificate and the API key on every call', async () => {
  const [api, worker] = await Promise.all([
    startProcess('api/server.ts', env),
    startProcess('workers/main.ts', { ...env, FLEETS: 'documents,backlog,sources' }),
  ]);
  const there = apiAt(api.url);
  const org = await there.newOrg();
  const { token } = await there.newKey(org);
  const { body } = await there.upload(org.orgId, token, { name: 'a.md', content: 'The gannet card costs 12 EUR.' });
  expect((await there.processed(org.orgId, token, body.document.doc_id)).status).toBe('indexed');
  expect([...passed]).toEqual(
    expect.arrayContaining(['StartWorkflowExecution', 'PollWorkflowTaskQueue', 'RespondWorkflowTaskCompleted']),
  );
  await Promise.all([api.stop(), worker.stop()]);
});

it('without the client’s certificate, or with a wrong API key, a worker does not start, and says that it cannot reach Temporal', async () => {
  const { TEMPORAL_TLS_CLIENT_CERT_PATH: _, TEMPORAL_TLS_CLIENT_KEY_PATH: __, ...bare } = env;
  for (const wrong of [bare, { ...env, TEMPORAL_API_KEY: 'another' }])
    await expect(startProcess('workers/main.ts', wrong as SystemEnv)).rejects.toThrow(
      /Temporal does not answer at localhost/,
    );
});

describe('the settings', () => {
  const base = { DATA_DIR: tmpdir(), SECRET_KEY: 'a1'.repeat(32) };
  it.each([
    ['nothing', {}, {}],
    ['TLS alone', { TEMPORAL_TLS: 'true' }, { tls: {} }],
    ['an API key, which needs TLS', { TEMPORAL_API_KEY: 'k' }, { apiKey: 'k', tls: {} }],
  ])('readConfig accepts these settings for access to Temporal: %s', (_, set, access) =>
    expect(readConfig({ ...base, ...set }).temporalAccess).toEqual(access),
  );

  it.each([
    ['a file that is not there', { TEMPORAL_TLS_SERVER_CA_CERT_PATH: '/nowhere/ca.pem' }, 'cannot be read'],
    ['a certificate without its key', { TEMPORAL_TLS_CLIENT_CERT_PATH: '/dev/null' }, 'need each other'],
    ['a key without TLS', { TEMPORAL_API_KEY: 'k', TEMPORAL_TLS: 'false' }, 'TEMPORAL_TLS is off'],
  ])('readConfig refuses these settings for access to Temporal: %s', (_, set, sentence) =>
    expect(() => readConfig({ ...base, ...set })).toThrow(sentence),
  );
});
