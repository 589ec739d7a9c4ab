/**
 * Tests the workflow that creates embeddings: in batches until nothing is left, again after each publication, and ended
 * when none comes.
 */
import { describe, expect, it } from '@jest/globals';
import { stories } from '../story.ts';
import { embedPassages, wake } from '../../../workflows/knowledge/embed.ts';

const ref = { orgId: 'org_1', mode: 'test' as const };
const { tell } = stories();

describe('embedPassages', () => {
  it('the embedding workflow embeds until no passage is left, and ends when nothing is published for a while', async () => {
    let left = 3;
    const { calls, skippedMs } = await tell(embedPassages, [ref], {
      embedSome: async (given) => {
        expect(given).toEqual(ref);
        return { left: --left > 0 };
      },
    });
    expect(calls).toHaveLength(3);
    expect(skippedMs).toBeGreaterThanOrEqual(10_000);
  });

  it('the embedding workflow embeds all sources published during its activity by one more activity, never concurrently', async () => {
    const [first, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let [running, most] = [0, 0];
    const embedSome = async () => {
      most = Math.max(most, (running += 1));
      first.resolve();
      await go.promise;
      running -= 1;
      return { left: false };
    };
    const { calls } = await tell(embedPassages, [ref], { embedSome }, async (handle) => {
      await first.promise;
      for (let published = 0; published < 3; published += 1) await handle.signal(wake);
      go.resolve();
    });
    expect([calls.length, most]).toEqual([2, 1]);
  });

  it('the embedding workflow retries with growing pauses and without a limit while the models are unavailable', async () => {
    let failures = 12;
    const { calls, skippedMs } = await tell(embedPassages, [ref], {
      embedSome: async () => {
        if (failures-- > 0) throw new Error('The models failed.');
        return { left: false };
      },
    });
    expect(calls).toHaveLength(13);
    expect(skippedMs).toBeGreaterThan(5 * 60_000);
  });
});
