/** Tests the workflow that deletes a customer: at once, and again when everything that was in flight has ended. */
import { describe, expect, it } from '@jest/globals';
import { stories } from '../story.ts';
import { eraseCustomer } from '../../../workflows/chat/erasure.ts';

const ref = { orgId: 'org_1', customerId: 'cus_1' };
const { tell } = stories();

describe('eraseCustomer', () => {
  it('the workflow eraseCustomer deletes the records, waits longer than an answer can take, and then verifies the deletion', async () => {
    const given: object[] = [];
    const note = async (one: object) => void given.push(one);
    const { calls, skippedMs } = await tell(eraseCustomer, [ref], { eraseCustomer: note, verifyErasure: note });
    expect([calls, given]).toEqual([
      ['eraseCustomer', 'verifyErasure'],
      [ref, ref],
    ]);
    expect(skippedMs).toBeGreaterThanOrEqual(15 * 60_000);
  });

  it('the workflow eraseCustomer retries each step until it succeeds', async () => {
    let failures = 4;
    const flaky = async () => {
      if (failures-- % 2 === 0) throw new Error('MongoDB does not answer');
    };
    const { calls } = await tell(eraseCustomer, [ref], { eraseCustomer: flaky, verifyErasure: flaky });
    expect(calls).toEqual(['eraseCustomer', 'eraseCustomer', 'verifyErasure', 'verifyErasure']);
  });
});
