import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mongoose from 'mongoose';
import { startApi, type Api as Started } from '../../api/server.ts';
import { createRate } from '../../api/http/limits.ts';
import { readConfig, type Config } from '../../config.ts';
import { startMongod, type Mongod } from '../../engines/mongod.ts';
import { findUserByEmail } from '../../models/access/user.ts';
import { apiAt, until, type Api, type TestOrg } from '../kit/harness.ts';
import { removeDataDir, systemEnv, type SystemEnv } from '../kit/processes.ts';

const silent = (): void => undefined;
const sentence = 'A service this needs is not reachable right now; try again.';

let dataDir: string;
let mongod: Mongod;
let env: SystemEnv;
let config: Config;
let started: Started;
let api: Api;
let org: TestOrg;
let key: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'mongoaway-'));
  mongod = await startMongod({ dataDir, report: silent, indexedOnly: true });
  env = systemEnv('mongoaway', { MONGODB_URI: mongod.uri, LOG_LEVEL: 'silent' });
  config = readConfig(env);
  started = await startApi(config);
  api = apiAt(started.url);
  org = await api.newOrg();
  key = (await api.newKey(org)).token;
});
afterAll(async () => {
  await started.close();
  await mongod.stop();
  await removeDataDir(env);
  await rm(dataDir, { recursive: true, force: true });
});

describe('an API process whose MongoDB is stopped', () => {
  it('the API waits at most 2.5 s for MongoDB', () => {
    expect(mongoose.connection.getClient().options.serverSelectionTimeoutMS).toBe(2_500);
  });

  it('every caller gets 503 with a message while mongod is stopped, and 200 when mongod runs again', async () => {
    const { port } = new URL(mongod.uri);
    const body = { email: org.owner.email, password: org.owner.password };
    const requests = {
      key: () => api.request('GET', `/orgs/${org.orgId}/documents`, { token: key }),
      'dashboard login': () => api.request('GET', `/orgs/${org.orgId}`, { token: org.owner.token }),
      nobody: () => api.request('POST', '/auth/login', { body }),
    };
    await mongod.stop();
    for (const [caller, request] of Object.entries(requests)) {
      const answer = await request();
      expect([caller, answer.status, answer.body.code, answer.body.error]).toEqual([
        caller,
        503,
        'UNAVAILABLE',
        sentence,
      ]);
    }
    // While MongoDB is stopped, the process counts rate limits in memory. So a request waits for MongoDB once, and not
    // once for each limit.
    const order: string[] = [];
    const countTwice = async () => {
      const rate = createRate(config, 'sign_in');
      for (let count = 0; count < 2; count++) await rate.consume('someone', 1);
      order.push('limits');
    };
    await Promise.all([findUserByEmail(org.owner.email).catch(() => order.push('read')), countTwice()]);
    expect(order).toEqual(['limits', 'read']);
    const ready = await api.request('GET', '/health/ready');
    expect([ready.status, ready.body.mongo]).toEqual([503, 'down']);
    expect((await api.request('GET', '/health/serving')).status).toBe(503);
    expect((await api.request('GET', '/health/live')).status).toBe(200);

    mongod = await startMongod({ dataDir, port: Number(port), report: silent, indexedOnly: true });
    for (const [caller, request] of Object.entries(requests))
      await until(async () => (await request()).status === 200, `an answer to ${caller}`);
  });
});
