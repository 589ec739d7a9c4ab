/**
 * Zod schemas of the requests and replies about support sessions. A session's token, its step-up token and the embed
 * secret each appear in one reply only.
 */
import { z } from 'zod';
import { email } from './auth.ts';
import { id, line, orNull, timestamp } from '../../base/contract/common.ts';
import { mode } from './mode.ts';
import {
  contextProblem,
  maxExternalIdLength,
  maxNameLength,
  maxOverlapSeconds,
  maxProductTypeLength,
  maxVisitorIdLength,
  ttlSeconds,
} from '../../../models/rules/access/session.ts';
import { operation } from '../../base/contract/operation.ts';

/**
 * The context of a customer's session: any JSON object within bounds. A `context_update` frame contains such a context,
 * too.
 */
export const context = z
  .looseObject({
    productType: z.string().max(maxProductTypeLength).optional().meta({
      description: 'The segment that is searched, together with the shared ones.',
    }),
  })
  .superRefine((value, issues) => {
    const message = contextProblem(value);
    if (message) issues.addIssue({ code: 'custom', message });
  })
  .meta({ description: 'Free fields, up to 8 KiB as JSON; names must not begin with `$`.' });

const customer = z
  .strictObject({
    email: email.optional(),
    name: line(maxNameLength).optional(),
    externalCustomerId: line(maxExternalIdLength).optional().meta({
      description: 'Your own id of this person; it decides when it comes with an e-mail.',
    }),
  })
  .refine(
    (value) => value.email !== undefined || value.externalCustomerId !== undefined,
    'needs an email or an externalCustomerId',
  )
  .meta({ description: 'The same e-mail or external id is the same customer.' });

export const mintBody = z.strictObject({
  customer,
  ttlSeconds: z
    .int()
    .min(ttlSeconds.min)
    .max(ttlSeconds.max)
    .optional()
    .meta({ description: `How long the token lasts; ${ttlSeconds.default} unless told.` }),
  context: context.optional(),
  visitorId: line(maxVisitorIdLength).optional().meta({
    description: 'What the browser calls itself. It is noted, and joins no conversation.',
  }),
  stepUp: z.boolean().optional().meta({ description: 'Adds a `step_up_token`.' }),
});
const mintReply = z.object({
  token: z.string().meta({ description: 'For the customer’s page or app.' }),
  session_id: id,
  customer_id: id,
  expires_at: timestamp,
  ws_url: z.string().meta({ description: 'The address of the chat, with the token in it.' }),
  rest_base_url: z.string(),
  mode,
  step_up_token: z
    .string()
    .optional()
    .meta({ description: 'Confirms one action that asks for a second proof of identity; valid 5 minutes.' }),
});

const revokeReply = z.object({ session_id: id, status: z.literal('revoked') });

const embedSecretBody = z.strictObject({
  overlap_seconds: z.int().min(0).max(maxOverlapSeconds).optional().meta({
    description: 'How long signatures with the secret of before stay right; 0 unless told, at most 7 days.',
  }),
});
const embedSecretReply = z.object({
  mode,
  embed_secret: z
    .string()
    .meta({ description: 'Signs e-mails of customers. Shown this once; keep it on your server.' }),
  created_at: timestamp,
});
const embedSecretState = z.object({
  mode,
  exists: z.boolean(),
  created_at: orNull(timestamp),
  former_until: orNull(timestamp).meta({
    description: 'Until when signatures with the secret of before are right.',
  }),
});

export const mintSession = operation('mintSession', 'POST /support/sessions/orgs/{orgId}/mint', {
  body: mintBody,
  reply: mintReply,
});
export const revokeSession = operation('revokeSession', 'POST /support/sessions/orgs/{orgId}/{sessionId}/revoke', {
  reply: revokeReply,
});
export const getEmbedSecret = operation('getEmbedSecret', 'GET /support/sessions/orgs/{orgId}/embed-secret', {
  reply: embedSecretState,
});
export const replaceEmbedSecret = operation('replaceEmbedSecret', 'POST /support/sessions/orgs/{orgId}/embed-secret', {
  body: embedSecretBody,
  reply: embedSecretReply,
});
