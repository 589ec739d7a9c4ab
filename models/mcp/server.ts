/**
 * The tool server of an organization, with the approved tools. Secrets are encrypted, and are only sent to the server
 * that they belong to.
 */
import { cached } from '../base/cached.ts';
import { unlessDuplicate } from '../base/connect.ts';
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import {
  boolean,
  date,
  embedded,
  list,
  number,
  oneOf,
  optional,
  string,
  text,
  type ValueOf,
} from '../rules/base/fields.ts';
import { sealedRecords } from '../base/reseal.ts';
import type { Place } from '../base/secretbox.ts';
import { environments } from '../rules/access/keys.ts';
import type { ApprovedTool } from '../rules/mcp/tool.ts';

const authTypes = ['none', 'bearer', 'oauth2'] as const;
const grantTypes = ['client_credentials', 'authorization_code'] as const;

const oauthSettings = embedded({
  grant_type: oneOf(grantTypes),
  token_url: optional(string),
  client_id: optional(string),
  /** The client secret, encrypted. */
  client_secret: optional(string),
  scopes: optional(list(string)),
});
export type OAuthSettings = ValueOf<typeof oauthSettings>;

export const ToolServerModel = defineModel('ToolServer', 'tool_servers', {
  /** The organization's id. */
  _id: string,
  /**
   * For optimistic locking: increments with each change, including token refreshes, so that stale tokens never replace
   * newer ones. 0 while there is no server.
   */
  version: number,
  /**
   * Increments with each change of the address or the credentials, so that connections opened before the change are not
   * used any more. The number begins at random, so that a new server is not mistaken for a removed one.
   */
  connection: number,
  server_label: text,
  endpoint_url: string,
  auth_type: oneOf(authTypes),
  /** The access token, encrypted. */
  access_token: optional(string),
  oauth: optional(oauthSettings),
  /** Encrypted JSON: the tokens and client of the sign-in; see clients/mcp/oauth.ts. */
  oauth_state: optional(string),
  /**
   * The scopes that a person agreed to, and further scopes that the server requires. The next sign-in asks for all of
   * them.
   */
  scopes_wanted: optional(list(string)),
  protocol_version: optional(string),
  /** `sandbox`: only conversations of test mode may use the tools; otherwise conversations of both modes may. */
  environment: optional(oneOf(environments)),
  enabled: boolean,
  rate_limit_per_min: number,
  /**
   * The approved tools as JSON text, because schemas have properties such as `$ref`, which MongoDB would read as
   * operators.
   */
  tools: string,
  last_discovered_at: optional(date),
  created_at: date,
  updated_at: date,
});
type Stored = RecordOf<typeof ToolServerModel>;
export type ToolServer = Omit<Stored, 'tools'> & { tools: ApprovedTool[] };

export const toolSecretPlace = (
  orgId: string,
  field: 'access_token' | 'oauth.client_secret' | 'oauth_state',
): Place => ({ field: `tool_servers.${field}`, record: orgId });

export const toolServerSeals = sealedRecords(
  ToolServerModel,
  ({ _id, access_token, oauth, oauth_state }) => [
    { path: 'access_token', sealed: access_token, place: toolSecretPlace(_id, 'access_token') },
    { path: 'oauth.client_secret', sealed: oauth?.client_secret, place: toolSecretPlace(_id, 'oauth.client_secret') },
    { path: 'oauth_state', sealed: oauth_state, place: toolSecretPlace(_id, 'oauth_state') },
  ],
  { versioned: true },
);

const opened = (stored: Stored | null): ToolServer | null =>
  stored && { ...stored, tools: JSON.parse(stored.tools) as ApprovedTool[] };

export async function findToolServer(orgId: string): Promise<ToolServer | null> {
  return opened(await collectionOf(ToolServerModel).findOne({ _id: orgId }));
}

/** The tool server, cached for less than a second, because every answer reads it. */
export const recentToolServer = cached(findToolServer);

/** Stores the server with optimistic locking: false when it changed since `version` was read (0: there was none). */
export async function saveToolServer(server: ToolServer, version: number): Promise<boolean> {
  const stored: Stored = { ...server, version: version + 1, tools: JSON.stringify(server.tools) };
  const servers = collectionOf(ToolServerModel);
  try {
    if (version > 0) return (await servers.replaceOne({ _id: server._id, version }, stored)).matchedCount === 1;
    return (await unlessDuplicate(() => servers.insertOne(stored))) !== undefined;
  } finally {
    recentToolServer.forget(server._id);
  }
}

/** Removes the tool server; false when there was none. */
export async function removeToolServer(orgId: string): Promise<boolean> {
  const { deletedCount } = await collectionOf(ToolServerModel).deleteOne({ _id: orgId });
  recentToolServer.forget(orgId);
  return deletedCount === 1;
}

/** Stores the encrypted tokens of a sign-in; does nothing when the connection has changed. */
export async function keepOAuthState(orgId: string, connection: number, sealed: string): Promise<void> {
  await collectionOf(ToolServerModel).updateOne(
    { _id: orgId, connection },
    { $set: { oauth_state: sealed }, $inc: { version: 1 } },
  );
}

/**
 * Removes an ended sign-in; false when there is a newer one. `scopes`: the scopes of the next sign-in. `moved`: true
 * when the client secret belongs to another authorization server; the client secret is then removed too.
 */
export async function forgetOAuthState(
  orgId: string,
  connection: number,
  sealed: string,
  { scopes, moved = false }: { scopes?: string[] | undefined; moved?: boolean } = {},
): Promise<boolean> {
  const { matchedCount } = await collectionOf(ToolServerModel).updateOne(
    { _id: orgId, connection, oauth_state: sealed },
    {
      $unset: { oauth_state: 1, ...(moved ? { 'oauth.client_secret': 1 } : {}) },
      ...(scopes === undefined ? {} : { $set: { scopes_wanted: scopes } }),
      $inc: { version: 1 },
    },
  );
  return matchedCount === 1;
}

/**
 * Removes the wanted scopes, because the authorization server does not know them. The next sign-in asks for the scopes
 * that the tool server then requires.
 */
export async function forgetScopes(orgId: string, connection: number): Promise<void> {
  await collectionOf(ToolServerModel).updateOne(
    { _id: orgId, connection },
    { $unset: { scopes_wanted: 1 }, $inc: { version: 1 } },
  );
}

export async function noteDiscovered(orgId: string, at: Date): Promise<void> {
  await collectionOf(ToolServerModel).updateOne({ _id: orgId }, { $set: { last_discovered_at: at } });
}

/** Whether the server is still enabled with this connection, so that a running call may continue. */
export async function stillConnected(orgId: string, connection: number): Promise<boolean> {
  const found = await collectionOf(ToolServerModel).findOne(
    { _id: orgId, connection, enabled: true },
    { projection: { _id: 1 } },
  );
  return found !== null;
}

/** Suspends a tool whose definition the server has changed; false when the tool is no longer approved with this pin. */
export async function suspendTool(orgId: string, toolName: string, pin: string, now: Date): Promise<boolean> {
  for (;;) {
    const server = await findToolServer(orgId);
    const tool = server?.tools.find(({ tool_name }) => tool_name === toolName);
    if (!server || tool?.pin !== pin || tool.suspended) return false;
    const tools = server.tools.map((one) => (one === tool ? { ...one, suspended: true } : one));
    if (await saveToolServer({ ...server, tools, updated_at: now }, server.version)) return true;
  }
}
