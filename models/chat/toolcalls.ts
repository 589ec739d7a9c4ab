/** Calls of tools as conversations hold them: they are removed with their customer. */
import type { Eraser, Erased } from './erasure.ts';
import { collectionOf } from '../base/define.ts';
import { ToolCallModel } from '../mcp/call.ts';

const ofCustomer = ({ orgId, customerId }: Erased) => ({ org_id: orgId, customer_id: customerId });

/** What is outstanding of them is not sent any more. The audit names no customer. */
export const toolCallEraser: Eraser = {
  kind: 'tool_calls',
  count: (erased) => collectionOf(ToolCallModel).countDocuments(ofCustomer(erased)),
  async remove(erased) {
    await collectionOf(ToolCallModel).deleteMany(ofCustomer(erased));
  },
};
