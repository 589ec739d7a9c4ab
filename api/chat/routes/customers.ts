/** Routes that export or erase all data of a customer. workflows/chat/erasure.ts does the erasure. */
import { member } from '../../access/auth.ts';
import * as contract from '../contract/customers.ts';
import { afterPlace, placedListPage } from '../../http/cursor.ts';
import { launch } from '../../../workflows/start.ts';
import { viewConversation, viewMessage } from '../inbox.ts';
import { route } from '../../http/route.ts';
import { findCustomer, type Customer } from '../../../models/chat/customer.ts';
import { heldBehind, placeForm, placeOf, type Held, type HeldRecords } from '../../../models/chat/customerdata.ts';
import { createErasure, ErasureModel, findErasure, shutOut, type Erasure } from '../../../models/chat/erasure.ts';
import { noSuch, sought } from '../../../models/rules/base/errors.ts';
import { eraseCustomerWork } from '../../../models/rules/chat/work.ts';

/** The maximum number of records on a page of the export. It is large, because programs read the export. */
const exportLimit = 100;

/**
 * Groups the records of a page of the export by kind: sessions, gaps, conversations and messages. The reply's schema
 * drops the hash of a session's step-up token.
 */
function viewHeld(held: readonly Held[], customer: Readonly<Customer>) {
  const of = <L extends Held['list']>(list: L) =>
    held.filter((one) => one.list === list).map(({ record }) => record as HeldRecords[L]);
  return {
    sessions: of('sessions').map((session) => ({ ...session, session_id: session._id })),
    gaps: of('gaps').map(({ _id, ...gap }) => ({ ...gap, gap_id: _id })),
    conversations: of('conversations').map((conversation) => ({
      ...viewConversation(conversation, customer),
      notes: conversation.notes ?? [],
    })),
    messages: of('messages').map(viewMessage),
  };
}

const viewErasure = (erasure: Erasure) => ({ ...erasure, customer_id: erasure._id });

export const customerRoutes = [
  route(contract.exportCustomer, {
    summary: 'Everything that is held of a customer, page by page: the lists of all pages together are all of it.',
    auth: member(),
    limit: 'exports',
    async handle({ params: { orgId, customerId }, query }) {
      const place = afterPlace(query.cursor, placeForm);
      const customer = await findCustomer(orgId, customerId);
      if (!customer || customer.erasing_at) throw noSuch('customer');
      const { found, fits } = await heldBehind(customer, place, query.limit ?? exportLimit);
      const { entries, cursor } = placedListPage(found, fits, placeOf);
      return { customer: { ...customer, customer_id: customerId }, ...viewHeld(entries, customer), cursor };
    },
  }),
  route(contract.eraseCustomer, {
    summary: 'Remove everything that is held of a customer. Asked again, it says how far that is.',
    auth: member('admin'),
    status: 202,
    async handle({ params: { orgId, customerId }, principal }, ctx) {
      const standing = await findErasure(orgId, customerId);
      if (standing) return viewErasure(standing);
      const customer = await sought(findCustomer(orgId, customerId), 'customer');
      const now = ctx.clock();
      const ordered = await launch(ctx, ErasureModel, [eraseCustomerWork(orgId, customerId)], async ([intent]) => {
        const erasure: Erasure = {
          _id: customerId,
          org_id: orgId,
          mode: customer.mode,
          status: 'erasing',
          conv_ids: [],
          found: { conversations: 0, messages: 0, frames: 0, sessions: 0, gaps: 0 },
          requested_by: principal.userId,
          requested_at: now,
          pending: [intent],
        };
        if (!(await createErasure(erasure))) return null;
        // The customer's identity and sessions are removed before the reply, so that a customer who returns after the
        // reply is stored as a new one.
        await shutOut(orgId, customerId, now);
        return erasure;
      });
      return viewErasure(ordered ?? (await findErasure(orgId, customerId))!);
    },
  }),
];
