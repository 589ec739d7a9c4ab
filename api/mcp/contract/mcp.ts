/**
 * Zod schemas of the requests and replies about an organization's tool server. Credentials are accepted and never
 * returned.
 */
import { z } from 'zod';
import { environments } from '../../../models/rules/access/keys.ts';
import { cursor, id, line, moment, orNull, pageQuery, timestamp, redirectReply } from '../../base/contract/common.ts';
import { mode } from '../../access/contract/mode.ts';
import { auditKinds, breakReasons } from '../../../models/rules/mcp/audit.ts';
import {
  authScopes,
  channels,
  maxDescriptionLength,
  maxTools,
  outcomes,
  rateBounds,
  riskTiers,
  timeoutBounds,
  toolKinds,
  toolNamePattern,
} from '../../../models/rules/mcp/tool.ts';
import { operation } from '../../base/contract/operation.ts';
import { callbackPath } from '../../../models/rules/mcp/oauth.ts';

const authType = z.enum(['none', 'bearer', 'oauth2']);
const grantType = z.enum(['client_credentials', 'authorization_code']);
const jsonSchema = z.looseObject({}).meta({
  description:
    'A JSON Schema of the version that `$schema` names: draft-04, -06, -07, 2019-09 or 2020-12, which it is unless told.',
});
export const riskTier = z.enum(riskTiers);
export const authScope = z.enum(authScopes);
const findings = {
  problem: z.string().optional().meta({ description: 'Why the tool cannot be called, though the others can.' }),
  notes: z.array(z.string()).optional().meta({ description: 'What of its schemas is not held against values.' }),
};
const environment = z.enum(environments).optional().meta({
  description: '`sandbox`: its tools are for test conversations only. Otherwise they are for both modes.',
});
const rate = z.number().int().min(rateBounds.min).max(rateBounds.max);
const sourceName = z.string().min(1).max(200);

const tool = {
  source_name: sourceName.meta({ description: 'The server’s name of the tool.' }),
  tool_name: z.string().regex(toolNamePattern).meta({ description: 'The agent’s name of it.' }),
  description: z.string().max(maxDescriptionLength),
  input_schema: jsonSchema,
  output_schema: jsonSchema.optional(),
  kind: z.enum(toolKinds),
  risk_tier: riskTier,
  auth_scope: authScope,
  enabled: z.boolean(),
  timeout_ms: z.number().int().min(timeoutBounds.min).max(timeoutBounds.max),
  allowed_channels: z.array(z.enum(channels)).max(channels.length),
  rate_limit_per_min: rate.optional(),
};
const approvedTool = z
  .object({
    ...tool,
    ...findings,
    suspended: z
      .boolean()
      .meta({ description: 'Its server has changed it; it is not called until it is approved again.' }),
  })
  .meta({ id: 'ApprovedTool' });

const oauth = {
  grant_type: grantType.optional().meta({
    description: 'Unless told: `client_credentials` with a client secret, else `authorization_code`.',
  }),
  token_url: z.url().max(2_000).optional(),
  client_id: z.string().min(1).max(500).optional(),
  scopes: z.array(z.string().min(1).max(200)).max(50).optional(),
};
export const server = z
  .object({
    server_label: z.string(),
    endpoint_url: z.string(),
    auth_type: authType,
    has_access_token: z.boolean(),
    has_client_secret: z.boolean(),
    signed_in: z.boolean().meta({ description: 'Of `oauth2`: whether the authorization server has given a token.' }),
    oauth: z.object(oauth).nullable(),
    protocol_version: orNull(z.string()),
    environment,
    enabled: z.boolean(),
    rate_limit_per_min: z.number().int(),
    approved_tools: z.array(approvedTool),
    last_discovered_at: orNull(timestamp),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'ToolServer' });
export const serverReply = z.object({
  server: server.nullable(),
  authorization_url: z.string().optional().meta({
    description: 'Where a person has to agree before tools can be called; open it in a browser.',
  }),
});

/** A field that is left out keeps its value. */
export const serverBody = z.strictObject({
  server_label: line(200).optional(),
  endpoint_url: z.string().min(1).max(2_000).optional().meta({ example: 'https://tools.example.com/mcp' }),
  auth_type: authType.optional(),
  access_token: z.string().min(1).max(4_000).nullable().optional(),
  oauth: z
    .strictObject({ ...oauth, client_secret: z.string().min(1).max(2_000).optional() })
    .nullable()
    .optional(),
  protocol_version: z.string().max(20).nullable().optional(),
  environment,
  enabled: z.boolean().optional(),
  rate_limit_per_min: rate.optional(),
  approved_tools: z
    .array(
      z
        .strictObject(tool)
        .partial()
        .extend({
          source_name: tool.source_name,
          risk: riskTier.optional().meta({ description: 'The same as `risk_tier`.' }),
          // These three fields of the reply are accepted, so that a client can send the list back unchanged.
          suspended: z.boolean().optional().meta({ description: 'True leaves it suspended.' }),
          problem: findings.problem.meta({ description: 'As it was shown; it changes nothing.' }),
          notes: findings.notes.meta({ description: 'As they were shown; they change nothing.' }),
        }),
    )
    .max(maxTools)
    .optional()
    .meta({
      description:
        'Replaces the whole list, and approves each tool as it stands here. Of a description or schema that is left out, the one that was discovered last is approved; a tool that is sent back as it was approved stays as it is.',
    }),
});

const difference = z.object({
  field: z.string(),
  change: z.enum(['added', 'removed', 'changed']),
  before: z.unknown().optional(),
  after: z.unknown().optional(),
});
const discoverReply = z.object({
  tools: z.array(
    z.object({
      source_name: z.string(),
      description: z.string(),
      input_schema: jsonSchema,
      output_schema: jsonSchema.optional(),
      ...findings,
      suggested_tool_name: z.string(),
      status: z.enum(['approved', 'new', 'changed', 'removed']),
      changed_since_approval: z.boolean(),
      diff: z.array(difference).optional(),
    }),
  ),
  discovered_at: timestamp,
});

const auditQuery = pageQuery.extend({
  tool: z.string().max(100).optional(),
  outcome: z.enum(outcomes).optional(),
  conversation_id: id.optional(),
  from: moment.optional(),
  to: moment.optional(),
});
const auditReply = z.object({
  events: z.array(
    z.object({
      id,
      ts: timestamp,
      mode,
      kind: z.enum(auditKinds),
      actor: z.string(),
      action: z.string(),
      tool: orNull(z.string()),
      conversation_id: orNull(z.string()),
      auth_scope: orNull(authScope),
      risk_tier: orNull(riskTier),
      outcome: orNull(z.enum(outcomes)),
      duration_ms: orNull(z.number()),
      arguments_sha256: orNull(z.string()),
    }),
  ),
  next_cursor: cursor,
});
const verifyQuery = z.object({ whole: z.enum(['true', 'false']).optional() });
const verifyReply = z.object({
  intact: z.boolean(),
  checked: z.number().int().meta({ description: 'Events that are known to be intact, from the first one on.' }),
  read: z.number().int().meta({ description: 'How many of them this check has read.' }),
  first_broken: z
    .object({ seq: z.number().int(), reason: z.enum(breakReasons) })
    .optional()
    .meta({
      description:
        'The first event that does not follow from the one before it, or is not signed by this system; `seq` counts from 1, and is 0 for the checkpoint.',
    }),
});

export const callbackQuery = z.object({
  state: z.string().max(500).optional(),
  code: z.string().max(4_000).optional(),
  iss: z.string().max(2_000).optional(),
  error: z.string().max(200).optional(),
  error_description: z.string().max(2_000).optional(),
  error_uri: z.string().max(2_000).optional(),
  session_state: z.string().max(500).optional(),
});

export type ToolServer = z.output<typeof server>;

export const getToolServer = operation('getToolServer', 'GET /support/mcp/orgs/{orgId}/server', { reply: serverReply });
export const putToolServer = operation('putToolServer', 'PUT /support/mcp/orgs/{orgId}/server', {
  body: serverBody,
  reply: serverReply,
});
export const deleteToolServer = operation('deleteToolServer', 'DELETE /support/mcp/orgs/{orgId}/server', {
  reply: serverReply,
});
export const discoverTools = operation('discoverTools', 'POST /support/mcp/orgs/{orgId}/discover', {
  reply: discoverReply,
});
export const listToolAudit = operation('listToolAudit', 'GET /support/mcp/orgs/{orgId}/audit', {
  query: auditQuery,
  reply: auditReply,
});
export const verifyToolAudit = operation('verifyToolAudit', 'GET /support/mcp/orgs/{orgId}/audit/verify', {
  query: verifyQuery,
  reply: verifyReply,
});
export const finishToolGrant = operation('finishToolGrant', `GET ${callbackPath}`, {
  query: callbackQuery,
  reply: redirectReply,
});
