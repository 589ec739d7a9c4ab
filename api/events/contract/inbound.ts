/** Zod schemas of webhook events from other services: the replies to their senders, and the list that members see. */
import { z } from 'zod';
import { cursor, id, orNull, pageQuery, timestamp } from '../../base/contract/common.ts';
import { mode } from '../../access/contract/mode.ts';
import { inboundProviders, inboundStatuses } from '../../../models/rules/events/inbound.ts';
import { operation } from '../../base/contract/operation.ts';

export const received = z.object({
  received: z.literal(true),
  repeated: z.boolean().meta({ description: 'It was here before; nothing is done again.' }),
});

export const slackReply = z.object({
  challenge: z.string().optional().meta({ description: 'Of `url_verification`, as it was sent.' }),
  response_type: z.enum(['ephemeral', 'in_channel']).optional(),
  text: z.string().optional().meta({ description: 'The answer to a slash command.' }),
});

export const teamsReply = z.object({
  type: z.literal('message').optional().meta({ description: 'Of an answer to an outgoing webhook.' }),
  text: z.string().optional(),
});

const inboundQuery = pageQuery.extend({
  provider: z.enum(inboundProviders).optional(),
  status: z.enum(inboundStatuses).optional(),
});

export const inbound = z
  .object({
    inbound_id: id,
    org_id: id,
    mode,
    provider: z.enum(inboundProviders),
    type: z.string().meta({ description: 'In the provider’s words, such as `Issue.update`.' }),
    status: z.enum(inboundStatuses).meta({ description: '`ignored`: nothing was to be done; `reason` says why.' }),
    reason: orNull(z.string()).meta({ description: 'Why it was ignored, or the last failure.' }),
    outcome: orNull(z.string()).meta({ description: 'What it changed.' }),
    attempts: z.number().int(),
    received_at: timestamp,
    settled_at: orNull(timestamp),
    next_attempt_at: orNull(timestamp).meta({ description: 'When it is tried again after a failure.' }),
  })
  .meta({ id: 'Inbound' });
const inboundReply = z.object({ inbound: z.array(inbound), cursor });

export const listInbound = operation('listInbound', 'GET /support/inbound/orgs/{orgId}', {
  query: inboundQuery,
  reply: inboundReply,
});
export const receiveLinear = operation('receiveLinear', 'POST /webhooks/linear', { raw: true, reply: received });
export const receiveGithub = operation('receiveGithub', 'POST /webhooks/github', { raw: true, reply: received });
export const receiveTeams = operation('receiveTeams', 'POST /webhooks/teams', { raw: true, reply: teamsReply });
export const receiveEmail = operation('receiveEmail', 'POST /webhooks/email/inbound', { raw: true, reply: received });
export const receiveSlack = operation('receiveSlack', 'POST /webhooks/slack', { raw: true, reply: slackReply });
