/**
 * Zod schemas of the requests and replies about developer keys and publishable keys. Only the replies of create and
 * rotate contain a secret key's token.
 */
import { z } from 'zod';
import { cursor, id, line, moment, orNull, pageQuery, timestamp } from '../../base/contract/common.ts';
import { mode } from './mode.ts';
import { keyStatuses, scopes as allScopes } from '../../../models/rules/access/keys.ts';
import { operation } from '../../base/contract/operation.ts';

const scopes = z.array(z.enum(allScopes)).min(1).max(20);
const maxOverlapSeconds = 7 * 86_400;

export const key = z
  .object({
    org_id: id,
    key_id: id,
    name: z.string(),
    scopes: z.array(z.enum(allScopes)),
    mode: mode.nullable().meta({ description: 'Null for a key from before modes; it follows the organization.' }),
    environment: mode.meta({ description: 'The mode; for a key without one, what the organization makes of it now.' }),
    status: z.enum(keyStatuses),
    token_prefix: z.string().meta({ description: 'The first characters, to recognise it by.' }),
    created_by_user_id: id,
    created_at: timestamp,
    updated_at: timestamp,
    last_used_at: orNull(timestamp).meta({ description: 'To the minute.' }),
    expires_at: orNull(timestamp),
  })
  .meta({ id: 'Key' });

const token = z.string().meta({ description: 'The key itself. Shown this once; only its hash is stored.' });
const expiresAt = moment.nullable().meta({ description: 'In the future; null for never.' });

export const keyList = z.object({ keys: z.array(key), cursor });
export const createKeyBody = z.strictObject({
  name: line(100),
  scopes: scopes.optional().meta({ description: '`mcp:read` and `mcp:write` unless told.' }),
  mode: mode.optional().meta({ description: '`test` unless told.' }),
  expires_at: expiresAt.optional(),
});
export const newKeyReply = z.object({ key, token });
const updateKeyBody = z.strictObject({
  name: line(100).optional(),
  scopes: scopes.optional(),
  expires_at: expiresAt.optional(),
});
const keyReply = z.object({ key });
const rotateKeyBody = z.strictObject({
  overlap_seconds: z.number().int().min(0).max(maxOverlapSeconds).optional().meta({
    description: 'How long the old key keeps working beside the new one; 0 unless told, at most 7 days.',
  }),
});

export const selfReply = z.object({
  organization: z.object({ org_id: id, name: z.string() }),
  key_id: id,
  name: z.string(),
  scopes: z.array(z.enum(allScopes)),
  environment: mode,
  status: z.enum(keyStatuses),
  expires_at: orNull(timestamp),
  mode: mode.meta({ description: 'What the key acts as now.' }),
});

const publishable = z.object({ key: z.string(), created_at: timestamp });
export const publishableKeys = z.object({ test: publishable, live: publishable });
const publishableParams = z.object({ orgId: id, mode });
const rotatedPublishableKey = z.object({ mode, key: z.string() });

export type Key = z.output<typeof key>;

export const listPublishableKeys = operation(
  'listPublishableKeys',
  'GET /support/developer-keys/orgs/{orgId}/publishable-keys',
  { reply: publishableKeys },
);
export const rotatePublishableKey = operation(
  'rotatePublishableKey',
  'POST /support/developer-keys/orgs/{orgId}/publishable-keys/{mode}/rotate',
  { params: publishableParams, reply: rotatedPublishableKey },
);
export const listKeys = operation('listKeys', 'GET /support/developer-keys/orgs/{orgId}/keys', {
  query: pageQuery,
  reply: keyList,
});
export const createKey = operation('createKey', 'POST /support/developer-keys/orgs/{orgId}/keys', {
  body: createKeyBody,
  reply: newKeyReply,
});
export const updateKey = operation('updateKey', 'PATCH /support/developer-keys/orgs/{orgId}/keys/{keyId}', {
  body: updateKeyBody,
  reply: keyReply,
});
export const revokeKey = operation('revokeKey', 'DELETE /support/developer-keys/orgs/{orgId}/keys/{keyId}', {
  reply: keyReply,
});
export const rotateKey = operation('rotateKey', 'POST /support/developer-keys/orgs/{orgId}/keys/{keyId}/rotate', {
  body: rotateKeyBody,
  reply: newKeyReply,
});
export const getSelf = operation('getSelf', 'GET /support/developer-keys/self', { reply: selfReply });
