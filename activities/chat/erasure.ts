/** Erases a customer. Logs and failures contain only ids, never data about the customer. */
import { cancellationSignal } from '@temporalio/activity';
import type { Logger } from 'pino';
import {
  findErasure,
  removeEverything,
  settleErasure,
  shutOut,
  type ErasureStatus,
} from '../../models/chat/erasure.ts';

export type ErasureDeps = { clock: () => Date; log: Logger };
type Ref = { orgId: string; customerId: string };
export type ErasureActivities = ReturnType<typeof createErasureActivities>;

export function createErasureActivities({ clock, log }: ErasureDeps) {
  /** Repeats the removal until nothing is left, because another process may still write. */
  async function erase({ orgId, customerId }: Ref, status: Exclude<ErasureStatus, 'erasing'>): Promise<void> {
    const erasure = await findErasure(orgId, customerId);
    if (!erasure) return;
    await shutOut(orgId, customerId, clock());
    while (!(await removeEverything(erasure, clock()))) cancellationSignal().throwIfAborted();
    await settleErasure(orgId, customerId, status, clock());
    log.info({ org_id: orgId, customer_id: customerId, status }, 'customer removed');
  }

  return {
    eraseCustomer: (ref: Ref) => erase(ref, 'erased'),
    /** Removes what concurrent work wrote during the erasure, after that work has ended. */
    verifyErasure: (ref: Ref) => erase(ref, 'verified'),
  };
}
