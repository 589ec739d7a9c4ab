/**
 * Requests of the API to a tool server: listing its tools, or a sign-in at its authorization server. The results are
 * stored; the workflow's history contains only ids and reasons. A person waits for the result, so a failure is returned
 * as an outcome instead of being retried forever.
 */
import { createConnections, type ConnectionDeps } from './connection.ts';
import { setImmediate } from 'node:timers/promises';
import { cancellationSignal } from '@temporalio/activity';
import { examine } from '../../clients/schema/examine.ts';
import { ServerFailure, type Mcp } from '../../clients/mcp/mcp.ts';
import { oauthProvider, signIn, type OAuthState } from '../../clients/mcp/oauth.ts';
import { readErrand, takeErrand, writeErrand } from '../../models/base/errand.ts';
import { keepDiscovery } from '../../models/mcp/discovery.ts';
import type { GrantContent, ReturnedGrant } from '../../models/mcp/grant.ts';
import type { FailureReason } from '../../models/rules/mcp/failure.ts';
import { findToolServer, keepOAuthState, noteDiscovered, type ToolServer } from '../../models/mcp/server.ts';
import { maxTools, type ExaminedTool, type ListedTool } from '../../models/rules/mcp/tool.ts';

export type ToolServerDeps = ConnectionDeps & { mcp: Mcp };
export type ToolServerRef = { orgId: string };
/** `grantId`: the id of the errand (the stored request) that holds the sign-in. */
export type GrantRef = ToolServerRef & { grantId: string };
/** `gone`: the server was removed, or the sign-in is over. */
export type Asked = { kind: 'done' } | { kind: 'gone' } | { kind: 'failed'; reason: FailureReason };
export type Prepared = Asked | { kind: 'person_needed' };
export type ToolServerActivities = ReturnType<typeof createToolServerActivities>;

export function createToolServerActivities(deps: ToolServerDeps) {
  const { mcp, secrets, clock } = deps;
  const connections = createConnections(deps);

  async function asking<T>(orgId: string, ask: (server: ToolServer) => Promise<T>) {
    const server = await findToolServer(orgId);
    if (!server) return { kind: 'gone' } as const;
    return outcomeOf(() => ask(server));
  }

  async function outcomeOf<T>(ask: () => Promise<T>) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof ServerFailure)) throw error;
      return { kind: 'failed', reason: error.reason } as const;
    }
  }

  return {
    /** Lists the server's tools and stores the list. */
    listServerTools: ({ orgId }: ToolServerRef): Promise<Asked> =>
      asking(orgId, async (server) => {
        const tools = (await mcp.listTools(connections.addressOf(server), cancellationSignal())).slice(0, maxListed);
        const now = clock();
        await keepDiscovery(orgId, server.connection, await examined(tools.map(fitting)), now);
        await noteDiscovered(orgId, now);
        return { kind: 'done' } as const;
      }),

    /**
     * Signs in with the client's own credentials, or prepares a sign-in for a person's consent. The server is not
     * stored yet.
     */
    prepareSignIn: async ({ orgId, grantId }: GrantRef): Promise<Prepared> => {
      const content = await readErrand<GrantContent>(orgId, grantId, secrets);
      if (!content) return { kind: 'gone' };
      const keep = (result: Partial<GrantContent>) => writeErrand(orgId, grantId, { ...content, ...result }, secrets);
      const client = connections.clientOf(content.server);
      const kept = memory({});
      let address: string | undefined;
      const provider = oauthProvider(client, kept, {
        state: content.state,
        redirected: (url) => (address = url.href),
      });
      return outcomeOf(async () => {
        const { tokenUrl } = client;
        const { endpoint_url: url, scopes_wanted: scopes } = content.server;
        const came = await signIn(provider, url, connections.fetch, { tokenUrl, scopes });
        if (came === 'signed_in') {
          await keep({ signed_in: connections.sealedState(orgId, await kept.read()) });
          return { kind: 'done' } as const;
        }
        if (address === undefined) return { kind: 'failed', reason: 'unauthorized' } as const;
        await keep({ kept: await kept.read(), address });
        return { kind: 'person_needed' } as const;
      });
    },

    /** Exchanges the authorization code for tokens, once. */
    finishSignIn: ({ orgId, grantId }: GrantRef): Promise<Asked> =>
      asking(orgId, async (server) => {
        const content = await takeErrand<ReturnedGrant>(orgId, grantId, secrets);
        if (content?.server.connection !== server.connection) return { kind: 'gone' } as const;
        const { kept: before, code, iss } = content;
        const kept = memory({ ...before });
        const provider = oauthProvider(connections.clientOf(server), kept);
        await signIn(provider, server.endpoint_url, connections.fetch, { returned: { code, iss } });
        await keepOAuthState(orgId, server.connection, connections.sealedState(orgId, await kept.read()));
        await mcp.forget(connections.addressOf(server).key);
        return { kind: 'done' } as const;
      }),
  };
}

/** The maximum number of tools that are listed. Servers with more tools than can be approved (`maxTools`) are rare. */
const maxListed = 10 * maxTools;

/**
 * The schemas of a list are examined for at most this time, in ms. Flaws of the remaining schemas are reported when
 * their tools are approved.
 */
const examineMs = 3_000;

async function examined(tools: readonly ListedTool[]): Promise<ExaminedTool[]> {
  const until = performance.now() + examineMs;
  const found: ExaminedTool[] = [];
  for (const tool of tools) {
    // This wait lets the process do other work, because examining a schema may take some CPU time.
    await setImmediate();
    found.push(performance.now() < until ? { ...tool, ...examine(tool) } : tool);
  }
  return found;
}

const fitting = (tool: ListedTool): ListedTool => ({ ...tool, name: tool.name.slice(0, 200) });

function memory(state: OAuthState) {
  let kept = state;
  return {
    read: async () => kept,
    write: async (next: OAuthState) => void (kept = next),
  };
}
