/**
 * MCP servers for tests. One is made with the official package for revision 2026-07-28, and tests change its tools and
 * behaviour while it runs. The other is the example server of the protocol, as a process.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createMcpHandler, fromJsonSchema, McpServer, type inputRequired } from '@modelcontextprotocol/server';
import { serving } from './listening.ts';

type Answer = {
  content?: { type: 'text'; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
};
/** A question that a tool asks the customer. */
type AskBack = ReturnType<typeof inputRequired>;
type Answers = Record<string, { action: string; content?: Record<string, unknown> }>;
export type TestTool = {
  name: string;
  description?: string;
  inputSchema?: Record<string, unknown>;
  outputSchema?: Record<string, unknown>;
  /** The result of a call, by default its arguments as JSON. */
  answer?: (
    given: Record<string, unknown>,
    meta: Record<string, unknown>,
    answers: Answers | undefined,
  ) => Answer | AskBack | Promise<Answer | AskBack>;
};
export type TestMcp = {
  url: string;
  tools: TestTool[];
  /** The calls that arrived, in order. */
  calls: { name: string; arguments: Record<string, unknown>; meta: Record<string, unknown> }[];
  /** The headers of each request. */
  heads: Record<string, string | string[] | undefined>[];
  /** Called first with each request. When it returns true, it has answered the request itself. */
  intercept:
    ((request: IncomingMessage, response: ServerResponse, body: string) => boolean | Promise<boolean>) | undefined;
  close(): Promise<void>;
};

const anything = { type: 'object', properties: {} };

/** An MCP server of revision 2026-07-28. A new instance with the current tools serves each request. */
export async function startTestMcp(...tools: TestTool[]): Promise<TestMcp> {
  const { url, close } = await serving(serve);
  const state: TestMcp = {
    url: `${url}/mcp`,
    tools,
    calls: [],
    heads: [],
    intercept: undefined,
    close,
  };

  const handler = createMcpHandler(() => {
    const mcp = new McpServer({ name: 'test-server', version: '1.0.0' });
    for (const { name, description = name, inputSchema = anything, outputSchema, answer } of state.tools) {
      mcp.registerTool(
        name,
        {
          description,
          inputSchema: fromJsonSchema<Record<string, unknown>>(inputSchema),
          ...(outputSchema === undefined ? {} : { outputSchema: fromJsonSchema(outputSchema) }),
        },
        async (given, ctx) => {
          const { _meta: meta = {}, inputResponses } = (
            ctx as { mcpReq: { _meta?: Record<string, unknown>; inputResponses?: Answers } }
          ).mcpReq;
          state.calls.push({ name, arguments: given, meta });
          const answered = await answer?.(given, meta, inputResponses);
          if (answered && 'resultType' in answered) return answered;
          return { content: [{ type: 'text' as const, text: JSON.stringify(given) }], ...answered };
        },
      );
    }
    return mcp;
  });

  async function serve(request: IncomingMessage, response: ServerResponse, body: string): Promise<void> {
    state.heads.push(request.headers);
    if (await state.intercept?.(request, response, body)) return;
    const reply = await handler.fetch(
      new Request(new URL(request.url ?? '/', state.url), {
        method: request.method ?? 'GET',
        headers: Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]),
        ...(body === '' ? {} : { body }),
      }),
    );
    response.writeHead(reply.status, Object.fromEntries(reply.headers));
    if (reply.body) for await (const chunk of reply.body) response.write(chunk);
    response.end();
  }

  return state;
}

/** `@modelcontextprotocol/server-everything`, which speaks older revisions, with an empty environment. */
export async function startEverything(): Promise<{ url: string; close(): Promise<void> }> {
  const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json');
  const preload = fileURLToPath(new URL('loopback.cjs', import.meta.url));
  const program = join(dirname(manifest), 'dist/index.js');
  const child = spawn(process.execPath, ['--require', preload, program, 'streamableHttp'], {
    env: { PORT: '0' },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const ended = once(child, 'exit');
  const ready = once(child, 'message') as Promise<[{ port: number }]>;
  const [{ port }] = await Promise.race([
    ready,
    ended.then(([code]) => Promise.reject(new Error(`The example server ended (${code}).`))),
  ]);
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async close() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
