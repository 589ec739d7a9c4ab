/**
 * The tool server that an organization has connected, and what was approved of it. Secrets are sealed, and never leave but to
 * the server they are for.
 */
import { cached } from '../base/cached.ts';
import { isDuplicate } from '../base/connect.ts';
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
import { renewalTurns } from '../base/renewal.ts';
import { sealedRecords } from '../base/reseal.ts';
import type { Place } from '../base/secretbox.ts';
import { environments } from '../rules/access/keys.ts';
import type { ApprovedTool } from '../rules/mcp/tool.ts';

const authTypes = ['none', 'bearer', 'oauth2'] as const;
export type AuthType = (typeof authTypes)[number];
const grantTypes = ['client_credentials', 'authorization_code'] as const;
export type GrantType = (typeof grantTypes)[number];

const oauthSettings = embedded({
  grant_type: oneOf(grantTypes),
  token_url: optional(string),
  client_id: optional(string),
  /** Sealed. */
  client_secret: optional(string),
  scopes: optional(list(string)),
});
export type OAuthSettings = ValueOf<typeof oauthSettings>;

export const ToolServerModel = defineModel('ToolServer', 'tool_servers', {
  /** The organization's id. */
  _id: string,
  /** Counts changes, of the tokens too, so that nobody puts back older ones; 0 while there is no server. */
  version: number,
  /**
   * Grows with each change of the address or the credentials: connections of an earlier one are not used any more. It
   * begins at a random number, so that a server that is connected after another was removed is not taken for that one.
   */
  connection: number,
  server_label: text,
  endpoint_url: string,
  auth_type: oneOf(authTypes),
  /** Sealed. */
  access_token: optional(string),
  oauth: optional(oauthSettings),
  /** Sealed JSON: what the sign-in at the authorization server has given; see clients/mcp/oauth.ts. */
  oauth_state: optional(string),
  /** What the server has asked for beyond what was agreed to, with that; the next sign-in asks for all of it. */
  scopes_wanted: optional(list(string)),
  /** Until when one process renews the tokens; the others wait for what it gets. */
  renewing_until: optional(date),
  protocol_version: optional(string),
  /** Which conversations its tools are for; absent: those of both modes. */
  environment: optional(oneOf(environments)),
  enabled: boolean,
  rate_limit_per_min: number,
  /** JSON, since schemas have members such as `$ref`, which MongoDB reads as operators. */
  tools: string,
  last_discovered_at: optional(date),
  created_at: date,
  updated_at: date,
});
type Stored = RecordOf<typeof ToolServerModel>;
export type ToolServer = Omit<Stored, 'tools'> & { tools: ApprovedTool[] };

/** Of a secret of an organization's tool server. */
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

const recent = cached(findToolServer);

/** As it was within the last second; for turns, which all ask for it. */
export async function recentToolServer(orgId: string): Promise<ToolServer | null> {
  return recent.read(orgId);
}

/** Stores it if nobody changed it since `version` was read (0: there was none); false when somebody did. */
export async function saveToolServer(server: ToolServer, version: number): Promise<boolean> {
  const stored: Stored = { ...server, version: version + 1, tools: JSON.stringify(server.tools) };
  recent.forget(server._id);
  if (version > 0) {
    const { matchedCount } = await collectionOf(ToolServerModel).replaceOne({ _id: server._id, version }, stored);
    return matchedCount === 1;
  }
  try {
    await collectionOf(ToolServerModel).insertOne(stored);
    return true;
  } catch (error) {
    if (isDuplicate(error)) return false;
    throw error;
  }
}

/** False when there was none. */
export async function removeToolServer(orgId: string): Promise<boolean> {
  const { deletedCount } = await collectionOf(ToolServerModel).deleteOne({ _id: orgId });
  recent.forget(orgId);
  return deletedCount === 1;
}

/** Keeps what the authorization server gave, sealed; nothing when the connection is another one by now. */
export async function keepOAuthState(orgId: string, connection: number, sealed: string): Promise<void> {
  await collectionOf(ToolServerModel).updateOne(
    { _id: orgId, connection },
    { $set: { oauth_state: sealed }, $inc: { version: 1 } },
  );
}

/** Turns at renewing the tokens of this connection: a refresh token that is used twice ends the whole grant at many servers. */
export const toolServerTurns = (orgId: string, connection: number, clock: () => Date) =>
  renewalTurns(ToolServerModel, { _id: orgId, connection }, { clock, also: { $inc: { version: 1 } } });

/**
 * Forgets a sign-in that has ended; false when there is another one by now. `scopes`: what the next one asks for. `moved`: the
 * client's secret was given for another authorization server, so it is forgotten, too.
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

/** Has the next sign-in ask for no more than the server says then: the authorization server does not know what was asked for. */
export async function forgetScopes(orgId: string, connection: number): Promise<void> {
  await collectionOf(ToolServerModel).updateOne(
    { _id: orgId, connection },
    { $unset: { scopes_wanted: 1 }, $inc: { version: 1 } },
  );
}

export async function noteDiscovered(orgId: string, at: Date): Promise<void> {
  await collectionOf(ToolServerModel).updateOne({ _id: orgId }, { $set: { last_discovered_at: at } });
}

/** Whether the server is still connected in this way, so that a call that is running may go on. */
export async function stillConnected(orgId: string, connection: number): Promise<boolean> {
  const found = await collectionOf(ToolServerModel).findOne(
    { _id: orgId, connection, enabled: true },
    { projection: { _id: 1 } },
  );
  return found !== null;
}

/** Suspends a tool that its server has changed; false when it is not approved any more in the form of this pin. */
export async function suspendTool(orgId: string, toolName: string, pin: string, now: Date): Promise<boolean> {
  for (;;) {
    const server = await findToolServer(orgId);
    const tool = server?.tools.find(({ tool_name }) => tool_name === toolName);
    if (!server || tool?.pin !== pin || tool.suspended) return false;
    const tools = server.tools.map((one) => (one === tool ? { ...one, suspended: true } : one));
    if (await saveToolServer({ ...server, tools, updated_at: now }, server.version)) return true;
  }
}
