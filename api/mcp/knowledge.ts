/** The tools of `/v1/mcp`: `ask` and `search` over the knowledge of the key's organization. */
import { createMcpHandler, McpServer, type CallToolResult, type McpHttpHandler } from '@modelcontextprotocol/server';
import type { SelfPrincipal } from '../access/auth.ts';
import type { Context } from '../context.ts';
import * as contract from './contract/mcpserver.ts';
import { toProblem } from '../http/errors.ts';
import { answerQuestion } from '../../agent/knowledge/answer.ts';
import { findKnowledge } from '../../agent/knowledge/find.ts';
import { passagesOf } from '../../models/rules/knowledge/retrieval.ts';
import { defined } from '../../models/rules/base/defined.ts';

/** Creates the handler of MCP requests. Each request must have the authenticated key in `authInfo.extra.principal`. */
export const createKnowledgeServer = (ctx: Context, version: string): McpHttpHandler =>
  createMcpHandler(({ authInfo }) => serverFor(ctx, principalIn(authInfo), version), {
    onerror: (error) => ctx.log.debug({ err: error }, 'a request to the knowledge as a tool server was refused'),
  });

const principalIn = (authInfo: { extra?: Record<string, unknown> } | undefined): SelfPrincipal =>
  authInfo!.extra!['principal'] as SelfPrincipal;

function serverFor(ctx: Context, { orgId, orgName, mode }: SelfPrincipal, version: string): McpServer {
  const server = new McpServer(
    { name: 'support-platform', version },
    {
      capabilities: { tools: { listChanged: false } },
      instructions: `Answers from the documents and pages of ${orgName}, with their sources. Where they do not answer, it says so; nothing is invented.`,
    },
  );
  const annotations = { readOnlyHint: true, openWorldHint: false };
  server.registerTool(
    'ask',
    {
      title: 'Ask the knowledge base',
      description:
        'Answers a question from the knowledge base, with its sources. `has_context` is false when the documents do not answer it; `confidence` is low when they only may.',
      inputSchema: contract.askArguments,
      outputSchema: contract.askResult,
      annotations,
    },
    ({ question, segments = [], conversation_history: history = [] }) =>
      answering(ctx, async () => {
        const { answer, sources, has_context, confidence, offers, degraded } = await answerQuestion(ctx, {
          orgId,
          mode,
          query: question,
          segments,
          history,
        });
        return { said: answer, value: { answer, sources, has_context, confidence, offers, degraded, mode } };
      }),
  );
  server.registerTool(
    'search',
    {
      title: 'Search the knowledge base',
      description:
        'Finds the passages of the knowledge base that answer a question or may help with it, the best first.',
      inputSchema: contract.searchArguments,
      outputSchema: contract.searchResult,
      annotations,
    },
    ({ query, segments = [], limit = contract.defaultPassages }) =>
      answering(ctx, async () => {
        const understood = await ctx.intelligence.read({ body: query, history: [] });
        const asked = { orgId, mode, body: query, segments };
        const { retrieval } = await findKnowledge(ctx, asked, understood);
        const passages = passagesOf(retrieval)
          .slice(0, limit)
          .map(({ passage: { type, source_id, name, url, heading, text }, relevance }) => ({
            source: { type, id: source_id, name, ...defined({ url }) },
            heading,
            text,
            score: Math.round(relevance * 1000) / 1000,
          }));
        const said = passages.map(({ source, heading, text }) => `${source.name} – ${heading}\n${text}`).join('\n\n');
        const value = { confidence: retrieval.confidence, passages, mode };
        return { said: said === '' ? 'Nothing was found.' : said, value };
      }),
  );
  return server;
}

/**
 * Turns work into a tool's result. A failure becomes an error result with the same message that a route would return.
 */
async function answering(
  ctx: Context,
  work: () => Promise<{ said: string; value: Record<string, unknown> }>,
): Promise<CallToolResult> {
  try {
    const { said, value } = await work();
    return { content: [{ type: 'text', text: said }], structuredContent: value };
  } catch (error) {
    const problem = toProblem(error);
    if (problem.status >= 500) ctx.log.error({ err: error }, 'a tool of the knowledge failed');
    return { content: [{ type: 'text', text: problem.message }], isError: true };
  }
}
