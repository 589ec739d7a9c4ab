/**
 * The client for an organization's MCP server: lists its tools and calls one. It uses revision 2026-07-28 of the
 * protocol, or the older handshake if the server supports no newer one. It does not decide who may call which tool.
 */
import {
  Client,
  InsufficientScopeError,
  isInputRequiredResult,
  OAuthClientFlowError,
  OAuthError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  type AuthProvider,
  type JsonSchemaValidator,
  type Tool,
} from '@modelcontextprotocol/client';
import { LRUCache } from 'lru-cache';
import { createFetch } from './fetch.ts';
import { contentOf, listedOf, tolerant } from './tolerance.ts';
import { BadSchema, checkOf, schemaCheck } from '../schema/schema.ts';
import type { StreamingHttp } from '../http/http.ts';
import { HttpError } from '../../models/rules/base/http.ts';
import { failureReasons, type FailureReason } from '../../models/rules/mcp/failure.ts';
import type { ContentBlock, Progress } from '../../models/rules/mcp/result.ts';
import type { JsonSchema, ListedTool } from '../../models/rules/mcp/tool.ts';
import { defined } from '../../models/rules/base/defined.ts';

/** The credential for calls. `onForbidden` is called with each reply of status 403. */
export type Credential = AuthProvider & { onForbidden?(reply: Response): Promise<void> };
export type ServerAddress = {
  /** Identifies the connection settings: the organization, and the version of its configuration. */
  key: string;
  url: string;
  auth: Credential | undefined;
};
export type ToolAsk = {
  name: string;
  arguments: Record<string, unknown>;
  /** The tool's approved definition, against which structured content is validated. */
  definition: ListedTool;
  meta?: Record<string, unknown> | undefined;
  timeoutMs: number;
  /**
   * The customer's answers to the tool's questions, by the names that the server gave, and the server's opaque state.
   */
  answers?: { responses: Record<string, unknown>; state?: string | undefined } | undefined;
  /** Called with the tool's progress. Progress does not extend the time limit. */
  progress?: ((said: Progress) => void) | undefined;
  signal?: AbortSignal | undefined;
};
/** `requests`: the tool asks for input and has done nothing yet. `state` must be returned to the server unchanged. */
type ToolAnswer =
  | { content: ContentBlock[]; structured?: unknown; isError: boolean }
  | { requests: Record<string, unknown>; state?: string };

/**
 * Why a server gave no usable answer. `sent`: whether the call may have reached the server. The message is for members
 * and contains no text from the server.
 */
export class ServerFailure extends Error {
  override readonly name = 'ServerFailure';
  readonly reason: FailureReason;
  readonly sent: boolean;
  constructor(reason: FailureReason, options: { sent?: boolean; cause?: unknown } = {}) {
    super(failureReasons[reason], { cause: options.cause });
    this.reason = reason;
    this.sent = options.sent ?? false;
  }
}
export type McpOptions = {
  http: Pick<StreamingHttp, 'open'>;
  egressAllow: readonly string[];
  /** Time limit for connecting, and for each page of a list, in ms. */
  listTimeoutMs?: number;
  /** Time limit for all pages of a list, in ms. */
  allPagesMs?: number;
  maxBytes?: number;
};

export type Mcp = {
  /** The server's current tools. @throws ServerFailure */
  listTools(server: ServerAddress, signal?: AbortSignal): Promise<ListedTool[]>;
  /** Calls a tool once, without retries. @throws ServerFailure */
  callTool(server: ServerAddress, ask: ToolAsk): Promise<ToolAnswer>;
  /** Closes the connection of the server with this `ServerAddress.key`; the next call opens a new one. */
  forget(key: string): Promise<void>;
  close(): Promise<void>;
};

/** The default of `listTimeoutMs`. The activity that lists a server's tools has 20 s for connecting and listing. */
const defaultListTimeoutMs = 8_000;
const defaultMaxBytes = 4 * 1024 * 1024;
/** A connection in constant use is replaced after this time, so that changed IP addresses take effect. */
const connectionMs = 5 * 60_000;
const maxPages = 64;
/**
 * The default of `allPagesMs`. A server that sends many slow pages must not delay a call beyond its activity's time
 * limit.
 */
const defaultAllPagesMs = 15_000;

/** Failures for which a new connection would not help. */
const final: readonly FailureReason[] = ['timeout', 'cancelled', 'scope'];

/**
 * `users`: the number of calls that use the connection. `retired`: the connection gets no new calls, and is closed
 * after the last one.
 */
type Connection = { client: Client; transport: StreamableHTTPClientTransport; users: number; retired: boolean };

export function createMcp({
  http,
  egressAllow,
  listTimeoutMs = defaultListTimeoutMs,
  allPagesMs = defaultAllPagesMs,
  maxBytes = defaultMaxBytes,
}: McpOptions): Mcp {
  const limits = { maxBytes, headersTimeoutMs: 125_000, totalTimeoutMs: 130_000 };
  const fetch = createFetch(http, egressAllow, limits);
  const open = new LRUCache<string, Promise<Connection>>({
    max: 200,
    ttl: connectionMs,
    dispose: (connection) => void connection.then(retire, () => undefined),
  });

  async function connect({ url, auth }: ServerAddress): Promise<Connection> {
    const client = new Client(
      { name: 'support-platform', version: '1.0.0' },
      {
        // Sampling and roots are not offered: tool servers must not use this system's models or folders.
        capabilities: { elicitation: { form: {} } },
        versionNegotiation: { mode: 'auto', probe: { timeoutMs: listTimeoutMs } },
        inputRequired: { autoFulfill: false },
        listMaxPages: maxPages,
        jsonSchemaValidator: { getValidator },
      },
    );
    const transport = new StreamableHTTPClientTransport(new URL(url), {
      fetch: async (input, init) => {
        const reply = await fetch(input, init);
        if (reply.status === 403) await auth?.onForbidden?.(reply);
        return reply;
      },
      ...defined({ authProvider: auth }),
      onInsufficientScope: 'throw',
      reconnectionOptions: {
        initialReconnectionDelay: 1_000,
        maxReconnectionDelay: 1_000,
        reconnectionDelayGrowFactor: 1,
        maxRetries: 0,
      },
    });
    // In the older handshake the server keeps the call open while it asks for input. Nobody can answer at once, so the
    // question is cancelled.
    client.setRequestHandler('elicitation/create', async () => ({ action: 'cancel' }));
    await client.connect(tolerant(transport), { timeout: listTimeoutMs });
    return { client, transport, users: 0, retired: false };
  }

  /** All calls to a server share one connection. When a call fails or is cancelled, the other calls on it continue. */
  function connection(server: ServerAddress): Promise<Connection> {
    const standing = open.get(server.key);
    if (standing) return standing;
    const opening = connect(server);
    open.set(server.key, opening);
    opening.catch(() => open.peek(server.key) === opening && open.delete(server.key));
    return opening;
  }

  /**
   * Runs a call on a connection, which stays open meanwhile. If connecting fails, the ServerFailure says that nothing
   * was sent.
   */
  async function using<T>(
    server: ServerAddress,
    signal: AbortSignal | undefined,
    use: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    const opened = async () =>
      connection(server).catch((error: unknown) => {
        throw failureOf(error, signal);
      });
    let used = await opened();
    while (used.retired) used = await opened();
    used.users += 1;
    try {
      return await use(used);
    } finally {
      used.users -= 1;
      if (used.retired && used.users === 0) void end(used);
    }
  }

  async function list(server: ServerAddress, signal?: AbortSignal): Promise<ListedTool[]> {
    const over = AbortSignal.timeout(allPagesMs);
    const either = signal ? AbortSignal.any([signal, over]) : over;
    const options = { cacheMode: 'refresh', timeout: listTimeoutMs, signal: either } as const;
    try {
      const { tools } = await using(server, signal, ({ client }) => client.listTools(undefined, options));
      return tools.map(listedOf);
    } catch (error) {
      if (over.aborted && !signal?.aborted) throw new ServerFailure('timeout', { cause: error });
      throw error;
    }
  }

  return {
    async listTools(server, signal) {
      const reused = open.has(server.key);
      try {
        return await list(server, signal);
      } catch (error) {
        open.delete(server.key);
        // A reused connection fails when the server has forgotten the session or has closed the connection. Listing is
        // idempotent, so it is retried on a new connection.
        const failure = failureOf(error, signal);
        if (!reused || final.includes(failure.reason)) throw failure;
      }
      try {
        return await list(server, signal);
      } catch (error) {
        open.delete(server.key);
        throw failureOf(error, signal);
      }
    },
    async callTool(server, { name, arguments: given, definition, meta, timeoutMs, answers, progress, signal }) {
      const asked = {
        name,
        arguments: given,
        ...defined({ _meta: meta }),
        ...(answers === undefined ? {} : { inputResponses: answers.responses }),
        ...(answers?.state === undefined ? {} : { requestState: answers.state }),
      };
      const options = {
        // The output schema is left out, because with it the library would require structured content even when the
        // tool asks for input. Structured content is validated below.
        toolDefinition: toolOf({ ...definition, output_schema: undefined }),
        allowInputRequired: true,
        timeout: timeoutMs,
        maxTotalTimeout: timeoutMs,
        resetTimeoutOnProgress: false,
        ...(progress ? { onprogress: progress } : {}),
        ...(signal ? { signal } : {}),
      };
      try {
        const answer = await using(server, signal, ({ client }) => client.callTool(asked, options));
        if (isInputRequiredResult(answer))
          return {
            requests: answer.inputRequests ?? {},
            ...defined({ state: answer.requestState }),
          };
        if (answer.isError !== true) checkStructured(definition, answer.structuredContent);
        return {
          content: contentOf(answer),
          ...defined({ structured: answer.structuredContent }),
          isError: answer.isError === true,
        };
      } catch (error) {
        open.delete(server.key);
        throw failureOf(error, signal, true);
      }
    },
    forget: async (key) => void open.delete(key),
    async close() {
      const standing = [...open.values()];
      open.clear();
      await Promise.allSettled(standing);
    },
  };
}

async function retire(connection: Connection): Promise<void> {
  connection.retired = true;
  if (connection.users === 0) await end(connection);
}

async function end({ client, transport }: Connection): Promise<void> {
  // A server of an older protocol revision keeps a session until the client ends it.
  await transport.terminateSession().catch(() => undefined);
  await client.close().catch(() => undefined);
}

/** @throws ServerFailure when the content does not match the approved schema; an unusable schema is ignored */
function checkStructured({ output_schema: schema }: ListedTool, structured: unknown): void {
  const check = schema && checkOf(schema);
  if (check && (structured === undefined || !check(structured).fits))
    throw new ServerFailure('protocol', { sent: true });
}

const toolOf = ({ name, description, input_schema, output_schema }: ListedTool): Tool =>
  ({
    name,
    description,
    inputSchema: input_schema,
    ...defined({ outputSchema: output_schema }),
  }) as Tool;

/** Makes the library validate structured content with `schemaCheck`, which also checks the arguments of calls. */
function getValidator<T>(schema: JsonSchema): JsonSchemaValidator<T> {
  const check = schemaCheck(schema);
  return (value) => {
    const fit = check(value);
    return fit.fits
      ? { valid: true, data: value as T, errorMessage: undefined }
      : { valid: false, data: undefined, errorMessage: fit.problem };
  };
}

/** Maps an error of the library, of HTTP or of a schema to a ServerFailure. */
function failureOf(error: unknown, signal: AbortSignal | undefined, sent = false): ServerFailure {
  const given = (reason: FailureReason) => new ServerFailure(reason, { sent, cause: error });
  if (error instanceof ServerFailure) return error;
  if (signal?.aborted) return given('cancelled');
  const http = causeOf(error, HttpError);
  if (http) {
    if (http.reason === 'blocked_address' || http.reason === 'bad_url')
      return new ServerFailure('blocked', { cause: error });
    if (http.reason === 'timed_out') return given('timeout');
    if (http.reason === 'too_large') return given('too_large');
    const unsent = http.reason === 'no_host' || http.reason === 'dns' || http.reason === 'tls';
    return new ServerFailure('unreachable', { sent: sent && !unsent, cause: error });
  }
  if (causeOf(error, BadSchema)) return given('protocol');
  if (error instanceof InsufficientScopeError) return new ServerFailure('scope', { cause: error });
  if (isUnauthorized(error)) return new ServerFailure('unauthorized', { cause: error });
  if (error instanceof SdkError) {
    if (error.code === SdkErrorCode.RequestTimeout) return given('timeout');
    if (error.code === SdkErrorCode.UnsupportedResultType) return given('input_required');
  }
  // A redirect, which means that the call was not carried out, is recognized only by its status. The server writes the
  // message, so the message is not trusted.
  if (error instanceof SdkHttpError && isRedirect(error.status)) return new ServerFailure('redirect', { cause: error });
  return given('protocol');
}

const isRedirect = (status = 0): boolean => status >= 300 && status < 400;

const isUnauthorized = (error: unknown): boolean =>
  error instanceof UnauthorizedError ||
  error instanceof OAuthError ||
  error instanceof OAuthClientFlowError ||
  (error instanceof SdkHttpError && [401, 403].includes(error.status ?? 0));

function causeOf<E extends Error>(error: unknown, kind: new (...given: never[]) => E): E | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth += 1)
    if (at instanceof kind) return at;
  const data = (error as { data?: { cause?: unknown } } | undefined)?.data?.cause;
  return data === undefined ? undefined : causeOf(data, kind);
}
