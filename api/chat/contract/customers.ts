/** Zod schemas of the requests and replies that export or erase all data of a customer. */
import { z } from 'zod';
import { cursor, id, orNull, pageQuery, timestamp } from '../../base/contract/common.ts';
import { mode } from '../../access/contract/mode.ts';
import { conversation, conversationReply } from './inbox.ts';
import { gapReasons } from '../../../models/rules/knowledge/gap.ts';
import { operation } from '../../base/contract/operation.ts';

const exportQuery = pageQuery.extend({
  limit: pageQuery.shape.limit.meta({ description: 'Records a page at most; 100 unless told.' }),
});

const session = z.object({
  session_id: id,
  kind: z.enum(['minted', 'embed']),
  verified: z.boolean(),
  product_type: z.string().optional(),
  context: z.record(z.string(), z.unknown()),
  visitor_id: z.string().optional(),
  created_by: id,
  created_at: timestamp,
  expires_at: timestamp,
  revoked_at: orNull(timestamp),
});

export const exportReply = z.object({
  customer: z.object({
    customer_id: id,
    org_id: id,
    mode,
    external_id: z.string().optional(),
    email: z.string().optional(),
    contact_email: z.string().optional(),
    name: z.string().optional(),
    visitor_id: z.string().optional(),
    verified: z.boolean(),
    created_at: timestamp,
    last_seen_at: timestamp,
  }),
  sessions: z.array(session).meta({ description: 'Ended ones are kept for 30 days.' }),
  gaps: z
    .array(z.object({ gap_id: id, question: z.string(), count: z.number().int(), why_missing: z.enum(gapReasons) }))
    .meta({ description: 'Questions that found no answer; `count`: how often this customer asked.' }),
  conversations: z.array(
    conversation.extend({
      refinement: z
        .record(z.string(), z.unknown())
        .optional()
        .meta({ description: 'What the page told with `context_update`.' }),
      session_context: z
        .object({ session_id: id, context: z.record(z.string(), z.unknown()) })
        .optional()
        .meta({ description: 'What the session was minted with in which was spoken last.' }),
      events: conversationReply.shape.events,
      notes: conversationReply.shape.notes,
    }),
  ),
  messages: z
    .array(conversationReply.shape.messages.element.extend({ conv_id: id }))
    .meta({ description: 'Of each conversation, oldest first.' }),
  cursor,
});

const erasureReply = z.object({
  customer_id: id,
  status: z.enum(['erasing', 'erased', 'verified']).meta({
    description:
      '`erased`: nothing is left. `verified`: a quarter of an hour later, when whatever was at work had ended, nothing was.',
  }),
  found: z
    .object({
      conversations: z.number().int(),
      messages: z.number().int(),
      frames: z.number().int(),
      sessions: z.number().int(),
      gaps: z.number().int(),
    })
    .catchall(z.number().int())
    .meta({ description: 'How many records there were.' }),
  requested_by: id,
  requested_at: timestamp,
  erased_at: orNull(timestamp),
  verified_at: orNull(timestamp),
});

export const exportCustomer = operation('exportCustomer', 'GET /support/customers/orgs/{orgId}/{customerId}', {
  query: exportQuery,
  reply: exportReply,
});
export const eraseCustomer = operation('eraseCustomer', 'DELETE /support/customers/orgs/{orgId}/{customerId}', {
  reply: erasureReply,
});
