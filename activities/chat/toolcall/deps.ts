import type { Logger } from 'pino';
import type { ConnectionDeps, Connections } from '../../mcp/connection.ts';
import type { Mcp } from '../../../clients/mcp/mcp.ts';
import type { AuditWriter } from '../../../models/mcp/audit.ts';
import type { ToolServer } from '../../../models/mcp/server.ts';
import type { Identity } from '../../../models/rules/mcp/policy.ts';
import type { ApprovedTool } from '../../../models/rules/mcp/tool.ts';
import type { Starter } from '../../../providers/base/handled.ts';

export type ToolCallDeps = ConnectionDeps &
  Starter & {
    mcp: Mcp;
    audit: AuditWriter;
    /** This signal is aborted when this process stops, so that calls in flight are abandoned. */
    stopping: AbortSignal;
    log: Logger;
  };
/** `addressOf` returns a tool server's URL and credentials. */
export type CallDeps = ToolCallDeps & Pick<Connections, 'addressOf'>;

/** `patienceMs`: how long to wait for a call's outcome; without it, until the call ends. */
export type Run = { signal: AbortSignal; patienceMs?: number | undefined };
export type Sending = Run & { server: ToolServer; tool: ApprovedTool; who: Identity };
export type Ref = { orgId: string; callId: string };
