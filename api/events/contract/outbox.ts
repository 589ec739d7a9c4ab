/** Zod schemas of the requests and replies about deliveries to an organization's destinations, with each attempt. */
import { z } from 'zod';
import { cursor, id, orNull, pageQuery, timestamp } from '../../base/contract/common.ts';
import { mode } from '../../access/contract/mode.ts';
import { ticketEvents } from '../../../models/rules/chat/conversation.ts';
import { deliveryKinds, deliveryStatuses } from '../../../models/rules/events/delivery.ts';
import { destinationStatuses } from '../../../models/rules/events/destination.ts';
import { operation } from '../../base/contract/operation.ts';

const status = z.enum(deliveryStatuses);
const kind = z.enum(deliveryKinds);

const deliveriesQuery = pageQuery.extend({
  status: status.optional(),
  kind: kind.optional(),
  event_type: id.optional().meta({ description: `Such as ${ticketEvents.join(', ')} or test.` }),
});

const attempt = z.object({
  at: timestamp,
  status_code: z.number().int().optional(),
  duration_ms: z.number().int(),
  error: z.string().optional(),
  response_head: z.string().optional().meta({ description: 'How the reply’s body begins.' }),
});

export const delivery = z
  .object({
    delivery_id: id,
    org_id: id,
    mode,
    kind,
    event_id: id.meta({ description: 'Of a webhook its `webhook-id`: the same in each attempt and redelivery.' }),
    event_type: z.string(),
    destination: z.string(),
    status: status.meta({
      description:
        '`retrying`: the last attempt failed and another one follows. `suppressed`: a delivery of test mode; `request` is what would have been sent.',
    }),
    attempts: z.array(attempt).meta({ description: 'Oldest first; the last 50 are kept.' }),
    next_attempt_at: orNull(timestamp),
    error: orNull(z.string()).meta({ description: 'Why it is not delivered.' }),
    request: z
      .object({
        method: z.string(),
        url: z.string(),
        headers: z.record(z.string(), z.string()),
        body: z.string(),
      })
      .nullable()
      .meta({ description: 'Of the last attempt; values that hold secrets are masked.' }),
    result: orNull(z.object({ id: z.string().optional(), url: z.string().optional() })).meta({
      description: 'What the receiver made of it, such as an issue.',
    }),
    conv_id: orNull(id),
    ticket_id: orNull(id),
    created_at: timestamp,
    delivered_at: orNull(timestamp),
  })
  .meta({ id: 'Delivery' });

const destination = z
  .object({
    mode,
    kind,
    status: z.enum(destinationStatuses).meta({
      description:
        '`disabled`: it answered 410, or took nothing for five days. Saving its address, its secret or outbox_providers enables it.',
    }),
    slow: z.boolean().meta({ description: 'It did not answer the last attempt in time.' }),
    failing_since: orNull(timestamp),
    last_error: orNull(z.string()),
    disabled_at: orNull(timestamp),
  })
  .meta({ id: 'Destination' });

const deliveriesReply = z.object({
  deliveries: z.array(delivery),
  destinations: z.array(destination).meta({ description: 'How each destination takes what is sent to it.' }),
  cursor,
});
const deliveryReply = z.object({ delivery });
const recoverBody = z.strictObject({
  since: z.iso
    .datetime({ offset: true })
    .meta({ description: 'Deliveries made since then that failed are sent again.' }),
});
export const recovered = z.object({
  recovered: z.number().int().meta({ description: 'How many are sent again, those of each ticket in order.' }),
});

export const listDeliveries = operation('listDeliveries', 'GET /support/outbox/orgs/{orgId}/deliveries', {
  query: deliveriesQuery,
  reply: deliveriesReply,
});
export const getDelivery = operation('getDelivery', 'GET /support/outbox/orgs/{orgId}/deliveries/{deliveryId}', {
  reply: deliveryReply,
});
export const redeliver = operation('redeliver', 'POST /support/outbox/orgs/{orgId}/deliveries/{deliveryId}/redeliver', {
  reply: deliveryReply,
});
export const recoverDeliveries = operation('recoverDeliveries', 'POST /support/outbox/orgs/{orgId}/recover', {
  body: recoverBody,
  reply: recovered,
});
export const sendTestEvent = operation('sendTestEvent', 'POST /support/outbox/orgs/{orgId}/test', {
  reply: deliveryReply,
});
