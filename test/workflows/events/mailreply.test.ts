/** Tests the workflow that mails replies: a minute after the first reply, it sends one mail with all replies. */
import { describe, expect, it } from '@jest/globals';
import { stories } from '../story.ts';
import { mailReply, replied } from '../../../workflows/events/mailreply.ts';

const ref = { orgId: 'org_1', convId: 'conv_1' };
const { tell } = stories();
const minute = 60_000;

describe('mailReply', () => {
  it('the workflow that mails replies waits a minute, and sends one mail with all replies up to then', async () => {
    const { calls, skippedMs } = await tell(mailReply, [ref], { mailUnsent: async () => ({}) }, async (handle) => {
      await handle.signal(replied);
      await handle.signal(replied);
    });
    expect(calls).toEqual(['mailUnsent']);
    expect(skippedMs).toBeGreaterThanOrEqual(minute);
  });

  it('a reply that arrives while a mail is being sent goes into another mail a minute later', async () => {
    let signal = async (): Promise<void> => undefined;
    const mailUnsent = async () => {
      await signal();
      signal = async () => undefined;
      return {};
    };
    const { calls, skippedMs } = await tell(mailReply, [ref], { mailUnsent }, async (handle) => {
      signal = () => handle.signal(replied);
    });
    expect(calls).toEqual(['mailUnsent', 'mailUnsent']);
    expect(skippedMs).toBeGreaterThanOrEqual(2 * minute);
  });

  it('the workflow that mails replies waits as long as the limit of automatic mails requires', async () => {
    const outcomes = [{ waitMs: 30 * minute }, {}];
    const { calls, skippedMs } = await tell(mailReply, [ref], { mailUnsent: async () => outcomes.shift()! });
    expect(calls).toEqual(['mailUnsent', 'mailUnsent']);
    expect(skippedMs).toBeGreaterThanOrEqual(32 * minute);
  });

  it('the workflow that mails replies retries until it succeeds', async () => {
    let failures = 2;
    const mailUnsent = async () => {
      if (failures-- > 0) throw new Error('MongoDB does not answer');
      return {};
    };
    expect((await tell(mailReply, [ref], { mailUnsent })).calls).toHaveLength(3);
  });
});
