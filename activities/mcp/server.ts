/**
 * What the API asks of a tool server: its tools, or a sign-in at its authorization server. What comes of it is stored; the
 * workflow's history holds ids and reasons only. These are asked by somebody who waits, so a failure is an outcome.
 */
import { randomBytes } from 'node:crypto';
import { createConnections, type ConnectionDeps } from './connection.ts';
import { withHeartbeat } from '../base/heartbeat.ts';
import { ServerFailure, type Mcp } from '../../clients/mcp/mcp.ts';
import { oauthProvider, signIn, type OAuthState } from '../../clients/mcp/oauth.ts';
import { keepDiscovery } from '../../models/mcp/discovery.ts';
import { grantSeconds, keepGrant, takeGrant } from '../../models/mcp/grant.ts';
import { sha256 } from '../../models/mcp/hash.ts';
import type { FailureReason } from '../../models/rules/mcp/failure.ts';
import { findToolServer, noteDiscovered, type ToolServer } from '../../models/mcp/server.ts';
import { maxTools, type ListedTool } from '../../models/rules/mcp/tool.ts';

export type ToolServerDeps = ConnectionDeps & { mcp: Mcp; clock: () => Date };
export type ToolServerRef = { orgId: string };
/** `gone`: there is no server any more. */
export type Asked = { kind: 'done' } | { kind: 'gone' } | { kind: 'failed'; reason: FailureReason };
/** `address`: where a person has to agree; it holds nothing secret but to others than this person. */
export type Prepared = Asked | { kind: 'person_needed'; grantId: string };
export type ToolServerActivities = ReturnType<typeof createToolServerActivities>;

/** What a sign-in needs to be finished, beside the state of the library. */
export type GrantContent = OAuthState & { address?: string; code?: string; iss?: string };

export function createToolServerActivities(deps: ToolServerDeps) {
  const { mcp, secrets, clock } = deps;
  const connections = createConnections(deps);

  async function asking<T>(orgId: string, ask: (server: ToolServer) => Promise<T>) {
    const server = await findToolServer(orgId);
    if (!server) return { kind: 'gone' } as const;
    try {
      return await ask(server);
    } catch (error) {
      if (!(error instanceof ServerFailure)) throw error;
      return { kind: 'failed', reason: error.reason } as const;
    }
  }

  return {
    /** Stores what the server lists now. */
    listServerTools: ({ orgId }: ToolServerRef): Promise<Asked> =>
      withHeartbeat(async (signal) =>
        asking(orgId, async (server) => {
          const tools = (await mcp.listTools(connections.addressOf(server), signal)).slice(0, maxListed);
          const now = clock();
          await keepDiscovery(orgId, server.connection, tools.map(fitting), now);
          await noteDiscovered(orgId, now);
          return { kind: 'done' } as const;
        }),
      ),

    /** Signs in with the client's own credentials, or prepares that a person agrees. */
    prepareSignIn: ({ orgId }: ToolServerRef): Promise<Prepared> =>
      withHeartbeat(async () =>
        asking(orgId, async (server): Promise<Prepared> => {
          const client = connections.clientOf(server);
          const state = randomBytes(32).toString('base64url');
          let address: string | undefined;
          const kept = memory({});
          const store = client.grantType === 'client_credentials' ? connections.storeOf(server) : kept;
          const provider = oauthProvider(client, store, {
            state,
            redirected: (url) => (address = url.href),
          });
          const came = await signIn(provider, server.endpoint_url, connections.fetch);
          if (came === 'signed_in') return { kind: 'done' };
          if (address === undefined) return { kind: 'failed', reason: 'unauthorized' };
          const content: GrantContent = { ...(await kept.read()), address };
          const grantId = sha256(state);
          await keepGrant({
            _id: grantId,
            org_id: orgId,
            connection: server.connection,
            sealed: secrets.seal(JSON.stringify(content)),
            returned: false,
            expires_at: new Date(clock().getTime() + grantSeconds * 1000),
          });
          return { kind: 'person_needed', grantId };
        }),
      ),

    /** Exchanges the code that the browser came back with, once. */
    finishSignIn: ({ orgId, grantId }: ToolServerRef & { grantId: string }): Promise<Asked> =>
      withHeartbeat(async () =>
        asking(orgId, async (server) => {
          const grant = await takeGrant(orgId, grantId);
          if (!grant || grant.connection !== server.connection) return { kind: 'gone' } as const;
          const { address: _, code, iss, ...before } = JSON.parse(secrets.open(grant.sealed)) as GrantContent;
          if (code === undefined) return { kind: 'gone' } as const;
          const kept = memory(before);
          const provider = oauthProvider(connections.clientOf(server), kept);
          await signIn(provider, server.endpoint_url, connections.fetch, { code, iss });
          await connections.storeOf(server).write(await kept.read());
          await mcp.forget(connections.addressOf(server).key);
          return { kind: 'done' } as const;
        }),
      ),
  };
}

/** More tools than can be approved are seldom; nobody reads thousands. */
const maxListed = 10 * maxTools;

const fitting = (tool: ListedTool): ListedTool => ({ ...tool, name: tool.name.slice(0, 200) });

function memory(state: OAuthState) {
  let kept = state;
  return {
    read: async () => kept,
    write: async (next: OAuthState) => void (kept = next),
  };
}
