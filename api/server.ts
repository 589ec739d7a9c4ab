/**
 * The API process: reads the configuration, connects, and listens. On SIGTERM it completes its open requests and exits.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { createApp } from './http/app.ts';
import { sweepUploads } from './http/upload.ts';
import type { Context } from './context.ts';
import { readings } from './readings.ts';
import { startTracing, traceparent } from '../clients/base/tracing.ts';
import { useTrace } from '../models/base/trace.ts';
import { carryTrace } from '../workflows/tracing.ts';
import { useMeter } from '../clients/base/meter.ts';
import { encryptionOf } from '../workflows/encryption.ts';
import { connectionTo } from '../workflows/start.ts';
import { hooks } from './hooks.ts';
import { prepareRates } from './http/limits.ts';
import { createLog } from './http/log.ts';
import { createMetrics } from './http/metrics.ts';
import { runProgram } from './http/program.ts';
import { createChatStreams } from './chat/stream.ts';
import { createStaffStreams } from './chat/staffstream.ts';
import { createRoomStreams } from './interviews/roomstream.ts';
import { createResumeFiles } from './interviews/resumefiles.ts';
import { createLive, type LiveOptions } from './live/live.ts';
import { createTokens } from './access/tokens.ts';
import { refuseUnreadable } from './http/malformed.ts';
import { openEmbedding } from '../clients/embedding/open.ts';
import { openIntelligence } from '../intelligence/open.ts';
import { createSearchReader } from '../clients/knowledge/search/reader.ts';
import { ConfigError, readConfig, type Config } from '../config.ts';
import { connectMongo, disconnectMongo } from '../models/base/connect.ts';
import { connectRedis, disconnectRedis } from '../models/base/redis.ts';
import { hostPort } from '../models/rules/base/address.ts';
import { createSecretBox } from '../models/base/secretbox.ts';
import { buildReaders } from '../workers/readers.ts';

/**
 * How often `sweepUploads` removes the upload files that killed processes left, in ms. It removes only files that are
 * older than an hour, so one run at the start would miss recent files.
 */
const sweepMs = 3_600_000;

/** A request waits this many ms for MongoDB before it is answered with 503. */
const serverSelectionMs = 2_500;
/**
 * How long a stopping process still accepts connections and reads requests, in ms. Nothing blocks the event loop for
 * that long, so every request that has arrived is read.
 */
const lastReadMs = 250;

/**
 * A running API. `close` still accepts requests for `lastReadMs`, then refuses new ones, waits up to `drainSeconds` for
 * open ones, tells sockets to reconnect elsewhere, and disconnects.
 */
export type Api = { url: string; close(): Promise<void> };

/** Starts an API in this process. `adapt` and `socketOptions` let tests replace parts. */
export async function startApi(
  config: Config,
  adapt: (ctx: Context) => Context = (ctx) => ctx,
  socketOptions: LiveOptions = {},
): Promise<Api> {
  if (!config.mongodbUri || !config.temporalAddress) {
    throw new ConfigError('MONGODB_URI and TEMPORAL_ADDRESS are not set; `npm start` starts both and sets them.');
  }
  const log = createLog('api', config.logLevel);
  const tracing = await startTracing('api', config.tracesUrl);
  useTrace(traceparent);
  await connectMongo(config.mongodbUri, { selectionMs: serverSelectionMs });
  connectRedis(config.redisUrl, (error) => log.warn({ err: error }, 'Redis is away; limits are counted by process'));
  await prepareRates();
  const sweep = () =>
    sweepUploads().catch((error: unknown) => log.warn({ err: error }, 'old uploads were not removed'));
  await sweep();
  // The connection is lazy, because the API accepts and stores requests even while Temporal is down.
  const connection = Connection.lazy(connectionTo(config.temporalAddress, config));
  const clock = () => new Date();
  const secrets = createSecretBox(config.secretKeys);
  const temporal = new Client({
    connection,
    namespace: config.temporalNamespace,
    ...encryptionOf(config),
    interceptors: { workflow: [carryTrace] },
  });
  const metrics = createMetrics(readings({ temporal, config, clock, model: () => embedding.model }));
  useMeter(metrics.meter);
  const embedding = openEmbedding(config, log, { warm: true });
  const search = createSearchReader({ uri: config.searchUri, s3: config.s3, model: embedding.model });
  const files = createResumeFiles(() =>
    buildReaders(config.dataDir).then(
      ({ files: program }) => program,
      (error: unknown) => {
        log.warn(
          { err: error },
          'the program that reads resumes could not be built; its sources are run, which takes longer',
        );
        return undefined;
      },
    ),
  );
  const ctx = adapt({
    config,
    log,
    clock,
    temporal,
    search,
    intelligence: openIntelligence(config.openai, embedding, log),
    embedding,
    files,
    secrets,
    tokens: createTokens({ config, clock, secrets }),
    hooks,
  });
  // `jwks` decrypts the key that signs logins, so a wrong SECRET_KEY fails the start instead of the first sign-in.
  await ctx.tokens.jwks();
  const state = { draining: false };
  const serveRequest = createApp(ctx, metrics, state).callback();
  const sockets = createLive(
    ctx,
    [
      createChatStreams(ctx, metrics.sockets.chat),
      createRoomStreams(ctx, metrics.sockets.room),
      createStaffStreams(ctx, metrics.sockets.live),
    ],
    socketOptions,
  );
  // An upgrade request that is not for a socket is handled as an ordinary request.
  const server = createServer({ shouldUpgradeCallback: sockets.wants }, serveRequest);
  server.on('upgrade', sockets.upgrade);
  // An unknown `Expect` header is no reason to refuse a request (RFC 9110, 10.1.1). Node would refuse it with a reply
  // without a body.
  server.on('checkExpectation', serveRequest);
  refuseUnreadable(server, log);
  // Proxies close an idle connection after a minute. This process waits longer: if it closed the connection first, it
  // could lose a request that the proxy has just sent.
  server.keepAliveTimeout = 65_000;
  // The server keeps an idle connection this much longer than it announces, for clients that were suspended when they
  // should have closed it.
  server.keepAliveTimeoutBuffer = 15_000;
  server.listen(config.port, config.host);
  await once(server, 'listening');
  const url = `http://${hostPort(config.host, (server.address() as AddressInfo).port)}`;
  log.info({ url }, 'api ready');
  const sweeping = setInterval(() => void sweep(), sweepMs).unref();
  return {
    url,
    async close() {
      state.draining = true;
      clearInterval(sweeping);
      // Closing at once would reset connections whose request has arrived, but is not read yet. So this process first
      // reads for `lastReadMs`.
      await sleep(lastReadMs);
      await setImmediate();
      const closed = new Promise((resolve) => server.close(resolve));
      const force = setTimeout(() => server.closeAllConnections(), config.drainSeconds * 1000);
      await Promise.all([closed, sockets.close()]);
      clearTimeout(force);
      await embedding.close();
      await files.close();
      search.close();
      await connection.close();
      disconnectRedis();
      await disconnectMongo();
      await tracing.stop();
      log.info('api stopped');
    },
  };
}

if (import.meta.main) await runProgram(() => startApi(readConfig(process.env)));
