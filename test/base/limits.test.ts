/** Rate limits hold over all processes, counted in MongoDB or in Redis. Each test simulates two processes. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLimiter, createRate, prepareRates } from '../../api/http/limits.ts';
import { readConfig, type Config } from '../../config.ts';
import { startRedis, type RedisServer } from '../../engines/redis.ts';
import { connectRedis, disconnectRedis, redis } from '../../models/base/redis.ts';
import { modelsIn } from '../kit/database.ts';
import { until } from '../kit/harness.ts';
import { removeDataDir, systemEnv } from '../kit/processes.ts';

const silent = (): void => undefined;
/** How many of `count` requests are let through. */
async function passed(count: number, take: () => Promise<unknown>): Promise<number> {
  const outcomes = await Promise.allSettled(Array.from({ length: count }, take));
  return outcomes.filter(({ status }) => status === 'fulfilled').length;
}

describe.each(['MongoDB', 'Redis'] as const)('limits counted in %s', (where) => {
  modelsIn(`limits${where}`);
  const env = systemEnv(`limits${where}`, { LIMITS: 'sign_in_per_minute=7,writes_per_minute=20' });
  const config: Config = readConfig(env);
  let server: RedisServer | undefined;
  beforeAll(async () => {
    if (where === 'Redis') {
      server = await startRedis({ report: silent });
      connectRedis(server.url, silent);
      await until(async () => redis()?.status === 'ready', 'Redis');
    }
    await prepareRates();
  });
  afterAll(async () => {
    disconnectRedis();
    await server?.stop();
    await removeDataDir(env);
  });

  it('two processes together let through no more requests than a rate limit allows', async () => {
    const rates = [createRate(config, 'sign_in'), createRate(config, 'sign_in')];
    const counts = await Promise.all(rates.map((rate) => passed(10, () => rate.consume('ada', 1))));
    expect(counts[0]! + counts[1]!).toBe(7);
    // Other callers are counted separately.
    expect(await passed(10, () => rates[0]!.consume('bob', 1))).toBe(7);
  });

  it('a refunded request no longer counts towards the rate limit in any process', async () => {
    const [one, other] = [0, 1].map(() => createRate(config, 'sign_in', { refundable: true }));
    expect(await passed(7, () => one!.consume('eve', 1))).toBe(7);
    expect(await passed(1, () => other!.consume('eve', 1))).toBe(0);
    await one!.reward('eve');
    await one!.reward('eve');
    expect(await passed(2, () => other!.consume('eve', 1))).toBe(1);
  });

  it('a refused request gets Retry-After, and an accepted request gets the limit in RateLimit-Policy', async () => {
    const limit = createLimiter(config);
    expect(await limit('writes', 'ada')).toMatchObject({ 'RateLimit-Policy': '"writes";q=20;w=60' });
    expect(await passed(30, () => limit('writes', 'ada'))).toBe(19);
    const refused = await limit('writes', 'ada').catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'RATE_LIMITED', headers: { 'Retry-After': expect.stringMatching(/^\d+$/) } });
  });

  if (where === 'Redis')
    it('while Redis is unreachable, each process counts requests by itself, and afterwards all processes count together again', async () => {
      const rates = [createRate(config, 'sign_in'), createRate(config, 'sign_in')];
      const { port } = server!;
      server!.child.kill();
      await server!.stop();
      await until(async () => redis()?.status !== 'ready', 'the connection to break');
      for (const rate of rates) expect(await passed(10, () => rate.consume('away', 1))).toBe(7);
      server = await startRedis({ port, report: silent });
      await until(async () => redis()?.status === 'ready', 'Redis');
      const counts = await Promise.all(rates.map((rate) => passed(10, () => rate.consume('back', 1))));
      expect(counts[0]! + counts[1]!).toBe(7);
    });
});
