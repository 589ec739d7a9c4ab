/**
 * Prevents the MCP library from rejecting a whole reply because of one part: a tool that violates the protocol, or
 * content of an unknown type. The original tools and content are kept in `_meta`, unchanged except for schemas that are
 * nested too deeply, and the code that reads them treats them as untrusted.
 */
import { randomUUID } from 'node:crypto';
import type { StreamableHTTPClientTransport, Tool } from '@modelcontextprotocol/client';
import type { ContentBlock } from '../../models/rules/mcp/result.ts';
import { maxDescriptionLength, type ListedTool } from '../../models/rules/mcp/tool.ts';

type Given = Record<string, unknown>;
const isRecord = (value: unknown): value is Given =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The key in `_meta` under which the original of a part is kept while the library reads the reply. The key is random,
 * so that no server can guess it.
 */
const carried = `io.svc/${randomUUID()}`;

/** Rewrites the replies of this transport so that the library accepts them. */
export function tolerant(transport: StreamableHTTPClientTransport): StreamableHTTPClientTransport {
  type Deliver = NonNullable<typeof transport.onmessage>;
  let deliver: Deliver | undefined;
  Object.defineProperty(transport, 'onmessage', {
    get: (): Deliver | undefined => deliver,
    set(given: Deliver | undefined) {
      deliver = given && ((...[message, ...rest]: Parameters<Deliver>) => given(takeable(message), ...rest));
    },
  });
  return transport;
}

/** Replies that were already rewritten; the library may pass a reply through two handlers. */
const made = new WeakSet();

function takeable<M>(message: M): M {
  const result = (message as { result?: unknown }).result;
  if (!isRecord(result) || made.has(result)) return message;
  const next = Array.isArray(result['tools'])
    ? { ...result, tools: toolsIn(result['tools']) }
    : 'content' in result || 'structuredContent' in result
      ? withContent(result)
      : result;
  made.add(next);
  return { ...message, result: next };
}

function withContent(result: Given): Given {
  const { content, _meta: meta } = result;
  const kept = { ...(isRecord(meta) ? meta : {}), [carried]: Array.isArray(content) ? content : [] };
  return { ...result, content: [], _meta: kept };
}

const toolsIn = (tools: unknown[]) =>
  tools.flatMap((given) => {
    if (!isRecord(given) || typeof given['name'] !== 'string') return [];
    const { name, inputSchema: listed, outputSchema } = given;
    const inputSchema = bounded(listed);
    const tool = { ...given, inputSchema, outputSchema: bounded(outputSchema) };
    // A well-formed schema is passed on unchanged, so that the library can drop a tool whose schema asks for headers
    // that the protocol forbids.
    const input = isRecord(inputSchema) && isInput(inputSchema) ? inputSchema : { type: 'object' };
    return [{ name, inputSchema: input, _meta: { [carried]: tool } }];
  });

const isInput = ({ type, properties = {}, required = [] }: Given): boolean =>
  type === 'object' &&
  isRecord(properties) &&
  Array.isArray(required) &&
  required.every((name) => typeof name === 'string');

/** The depth to which a listed schema is read: deeper than a usable one, and not so deep that walking it fails. */
const walkable = 64;

/**
 * Empties the objects and lists of a schema below `walkable`. What is left is too deep to be used, and it differs from
 * an approved schema.
 */
function bounded(value: unknown, depthLeft = walkable): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (depthLeft === 0) return {};
  if (Array.isArray(value)) return value.map((one) => bounded(one, depthLeft - 1));
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, bounded(inner, depthLeft - 1)]));
}

/**
 * A listed tool as the server sent it, with the description cut to `maxDescriptionLength` and with schemas that are
 * `bounded`.
 */
export function listedOf({ name, _meta: meta }: Tool): ListedTool {
  const { description, inputSchema, outputSchema } = meta![carried] as Given;
  return {
    name,
    description: typeof description === 'string' ? description.slice(0, maxDescriptionLength) : '',
    input_schema: isRecord(inputSchema) ? inputSchema : {},
    ...(isRecord(outputSchema) ? { output_schema: outputSchema } : {}),
  };
}

/** The content blocks of a reply as the server sent them. Blocks without a `type` are dropped. */
export const contentOf = ({ _meta: meta }: { _meta?: Given | undefined }): ContentBlock[] =>
  ((meta?.[carried] ?? []) as unknown[]).filter(
    (block): block is ContentBlock => isRecord(block) && typeof block['type'] === 'string',
  );
