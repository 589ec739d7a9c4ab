/** Functions that the routes of the tool server share: apply a patch, approve tools, and show the server. */
import { randomInt } from 'node:crypto';
import type { Context } from '../context.ts';
import type * as contract from './contract/mcp.ts';
import type { z } from 'zod';
import { examine } from '../../clients/schema/examine.ts';
import { BadSchema, schemaCheck } from '../../clients/schema/schema.ts';
import { lastDiscovery } from '../../models/mcp/discovery.ts';
import { pinOf } from '../../models/mcp/hash.ts';
import { toolSecretPlace, type OAuthSettings, type ToolServer } from '../../models/mcp/server.ts';
import { isEgressAllowed, isPublicHost, portOf } from '../../models/rules/base/address.ts';
import { type Detail, invalid, Problem } from '../../models/rules/base/errors.ts';
import { givenAgain, isElsewhere, originOf } from '../../models/rules/base/origin.ts';
import { badPorts } from '../../models/rules/base/http.ts';
import {
  rateBounds,
  suggestedName,
  timeoutBounds,
  type ApprovedTool,
  type ListedTool,
} from '../../models/rules/mcp/tool.ts';
import { canonicalJson } from '../../models/rules/mcp/canonical.ts';
import { listedOf } from '../../models/rules/mcp/discovery.ts';
import { defined } from '../../models/rules/base/defined.ts';

type Body = z.infer<typeof contract.serverBody>;
type GivenTool = NonNullable<Body['approved_tools']>[number];

const refuse = (path: (string | number)[], message: string): never => {
  throw invalid(['body', ...path], message);
};

/** Why this URL is refused for a tool server or its authorization server; undefined when it is accepted. */
function addressProblem(text: string, egressAllow: readonly string[]): string | undefined {
  if (!URL.canParse(text)) return 'must be an address such as https://tools.example.com/mcp';
  const url = new URL(text);
  const allowed = isEgressAllowed(url.hostname, portOf(url), egressAllow);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && allowed)) return 'must begin with https://';
  if (url.username !== '' || url.password !== '') return 'must not carry a user name or password';
  if (badPorts.has(portOf(url))) return `must not use port ${portOf(url)}, which belongs to another protocol`;
  if (!allowed && !isPublicHost(url.hostname)) return 'must be a public address, not one inside a private network';
  return undefined;
}

/** The server after a patch. `before`: the stored server, or null when there is none. */
export async function patched(ctx: Context, orgId: string, before: ToolServer | null, body: Body): Promise<ToolServer> {
  const now = ctx.clock();
  const changed = withConnection(ctx, before ?? blank(orgId, now), body);
  const tools = body.approved_tools ? await approvedTools(changed, before, body.approved_tools) : changed.tools;
  const server: ToolServer = {
    ...changed,
    ...defined({ server_label: body.server_label, enabled: body.enabled, rate_limit_per_min: body.rate_limit_per_min }),
    ...(body.protocol_version ? { protocol_version: body.protocol_version } : {}),
    ...defined({ environment: body.environment }),
    tools,
    updated_at: now,
  };
  if (body.protocol_version === null) delete server.protocol_version;
  return server;
}

const blank = (orgId: string, now: Date): ToolServer => ({
  _id: orgId,
  version: 0,
  connection: randomInt(2 ** 40),
  server_label: '',
  endpoint_url: '',
  auth_type: 'none',
  enabled: true,
  rate_limit_per_min: rateBounds.default,
  tools: [],
  created_at: now,
  updated_at: now,
});

/**
 * Applies the URL and the credentials of a patch. A change of either makes a new connection, which starts without the
 * old one's tokens.
 */
function withConnection({ config, secrets }: Context, standing: ToolServer, body: Body): ToolServer {
  const url = body.endpoint_url ?? standing.endpoint_url;
  if (url === '') refuse(['endpoint_url'], 'is required to connect a server');
  const problem = addressProblem(url, config.egressAllow);
  if (problem !== undefined) refuse(['endpoint_url'], problem);
  const next: ToolServer = {
    ...standing,
    endpoint_url: new URL(url).href,
    auth_type: body.auth_type ?? standing.auth_type,
  };
  if (body.access_token === null) delete next.access_token;
  else if (body.access_token !== undefined)
    next.access_token = secrets.seal(body.access_token, toolSecretPlace(next._id, 'access_token'));
  if (body.oauth === null) delete next.oauth;
  else if (body.oauth !== undefined) {
    const { client_secret, ...oauth } = { ...standing.oauth, ...body.oauth };
    if (oauth.token_url !== undefined) {
      const flaw = addressProblem(oauth.token_url, config.egressAllow);
      if (flaw !== undefined) refuse(['oauth', 'token_url'], flaw);
    }
    const sealed =
      body.oauth.client_secret === undefined
        ? client_secret
        : secrets.seal(body.oauth.client_secret, toolSecretPlace(next._id, 'oauth.client_secret'));
    next.oauth = settled({ ...oauth, client_secret: sealed });
  } else if (next.auth_type === 'oauth2') next.oauth ??= settled({});
  const moved = isElsewhere(originOf(standing.endpoint_url), url);
  if (moved && body.access_token === undefined) delete next.access_token;
  if (next.auth_type === 'bearer' && next.access_token === undefined)
    refuse(['access_token'], moved ? givenAgain('endpoint_url') : 'is required for bearer');
  // The token endpoint receives the client secret, and the tool server receives the tokens. When either moves to
  // another origin, the client secret must be entered again, so that a stored secret does not reach a new origin.
  const authorityMoved = isElsewhere(originOf(authorityOf(standing)), authorityOf(next));
  if ((moved || authorityMoved) && next.oauth?.client_secret !== undefined && body.oauth?.client_secret === undefined) {
    if (next.auth_type === 'oauth2')
      refuse(['oauth', 'client_secret'], givenAgain(moved ? 'endpoint_url' : 'oauth.token_url'));
    const { client_secret: _dropped, ...rest } = next.oauth;
    next.oauth = rest;
  }
  const reconnects =
    next.endpoint_url !== standing.endpoint_url ||
    next.auth_type !== standing.auth_type ||
    body.access_token !== undefined ||
    body.oauth !== undefined;
  if (!reconnects) return next;
  delete next.oauth_state;
  delete next.scopes_wanted;
  return { ...next, connection: standing.connection + 1 };
}

const authorityOf = ({ endpoint_url, oauth }: ToolServer): string => oauth?.token_url ?? endpoint_url;

type GivenOAuth = { [F in keyof OAuthSettings]?: OAuthSettings[F] | undefined };

function settled({ grant_type, token_url, client_id, client_secret, scopes }: GivenOAuth): OAuthSettings {
  return {
    grant_type: grant_type ?? (client_secret === undefined ? 'authorization_code' : 'client_credentials'),
    ...defined({ token_url, client_id, client_secret, scopes }),
  };
}

/**
 * Whether a request repeats the definition that was approved. A missing output schema is compared too: it repeats only
 * a definition without one.
 */
const isRepeated = ({ source_name: name, description, input_schema, output_schema }: GivenTool, pin?: string) =>
  description !== undefined &&
  input_schema !== undefined &&
  pin === pinOf({ name, description, input_schema, output_schema });

/**
 * The approved tools from a request's list. A field that a tool leaves out keeps its approved or discovered value. But
 * a tool that was approved without an output schema, and is sent back unchanged, does not get the discovered schema,
 * because nobody has approved that schema.
 */
async function approvedTools(server: ToolServer, before: ToolServer | null, given: readonly GivenTool[]) {
  const seen = (await lastDiscovery(server._id, before?.connection ?? 0))?.tools ?? [];
  const known = new Map<string, ListedTool>([
    ...(before?.tools ?? []).map((tool) => [tool.source_name, listedOf(tool)] as const),
    ...seen.map((tool) => [tool.name, tool] as const),
  ]);
  const pins = new Map((before?.tools ?? []).map(({ source_name, pin }) => [source_name, pin] as const));
  const details: Detail[] = [];
  const names = new Set<string>();
  const sources = new Set<string>();
  const tools = given.map((one, index): ApprovedTool => {
    const at = (field: string, message: string) =>
      void details.push({ path: ['body', 'approved_tools', index, field], message });
    const seenTool = known.get(one.source_name);
    const description = one.description ?? seenTool?.description;
    const input_schema = one.input_schema ?? seenTool?.input_schema;
    const isUnchanged = isRepeated(one, pins.get(one.source_name));
    const output_schema = isUnchanged ? one.output_schema : (one.output_schema ?? seenTool?.output_schema);
    const tier = one.risk_tier ?? one.risk;
    if (tier === undefined) at('risk_tier', 'is required');
    if (description === undefined) at('description', 'is required, unless the tool was discovered before');
    if (input_schema === undefined) at('input_schema', 'is required, unless the tool was discovered before');
    const tool_name = one.tool_name ?? suggestedName(one.source_name, names);
    if (names.has(tool_name)) at('tool_name', 'names two tools');
    if (sources.has(one.source_name)) at('source_name', 'is there twice');
    names.add(tool_name);
    sources.add(one.source_name);
    for (const [field, schema] of [
      ['input_schema', input_schema],
      ['output_schema', output_schema],
    ] as const) {
      const flaw = schema === undefined ? undefined : schemaFlaw(schema);
      // Only the server's operator can repair a schema that the server itself lists, so its flaw does not block the
      // approval of other tools.
      const isListed = canonicalJson(schema) === canonicalJson(seenTool?.[field]);
      if (flaw !== undefined && !isListed) at(field, flaw);
    }
    const listed = {
      name: one.source_name,
      description: description ?? '',
      input_schema: input_schema ?? {},
      output_schema,
    };
    return {
      source_name: one.source_name,
      tool_name,
      description: listed.description,
      input_schema: listed.input_schema,
      ...defined({ output_schema }),
      kind: one.kind ?? 'action',
      risk_tier: tier ?? 'human_only',
      auth_scope: one.auth_scope ?? 'verified_customer',
      enabled: one.enabled ?? true,
      timeout_ms: one.timeout_ms ?? timeoutBounds.default,
      allowed_channels: one.allowed_channels ?? ['chat'],
      ...defined({ rate_limit_per_min: one.rate_limit_per_min }),
      pin: pinOf(listed),
      ...(one.suspended ? { suspended: true } : {}),
      ...examine(listed),
    };
  });
  if (details.length > 0) throw new Problem('VALIDATION', { details });
  return tools;
}

function schemaFlaw(schema: Record<string, unknown>): string | undefined {
  const foreign = foreignName(schema);
  if (foreign !== undefined) return `must not have the name ${foreign}`;
  try {
    schemaCheck(schema);
    return undefined;
  } catch (error) {
    if (error instanceof BadSchema) return error.message;
    throw error;
  }
}

function foreignName(value: unknown, depthLeft = 40): string | undefined {
  if (value === null || typeof value !== 'object' || depthLeft === 0) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    if (name === '__proto__' || name.includes('\0')) return name.slice(0, 50);
    const found = foreignName(inner, depthLeft - 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The server for a reply, without its secrets. The schema of the reply drops the `pin` of each tool. */
export function viewServer({ tools, access_token, oauth_state, oauth, ...server }: ToolServer) {
  const { client_secret, ...shown } = oauth ?? {};
  return {
    ...server,
    has_access_token: access_token !== undefined,
    has_client_secret: client_secret !== undefined,
    signed_in: oauth_state !== undefined,
    oauth: oauth ? shown : null,
    approved_tools: tools.map((tool) => ({ ...tool, suspended: tool.suspended ?? false })),
  };
}
