/** What the steps of a call of a tool need. */
import type { Logger } from 'pino';
import type { StartSaved } from '../tooluse.ts';
import type { ConnectionDeps, Connections } from '../../mcp/connection.ts';
import type { Mcp } from '../../../clients/mcp/mcp.ts';
import type { AuditWriter } from '../../../models/mcp/audit.ts';
import type { ToolServer } from '../../../models/mcp/server.ts';
import type { Identity } from '../../../models/rules/mcp/policy.ts';
import type { ApprovedTool } from '../../../models/rules/mcp/tool.ts';

export type ToolCallDeps = ConnectionDeps & {
  mcp: Mcp;
  audit: AuditWriter;
  start: StartSaved;
  /** Aborted when this process stops, and calls that it still makes are given up. */
  stopping: AbortSignal;
  log: Logger;
};
/** `addressOf`: where a server is reached, and with which credentials. */
export type CallDeps = ToolCallDeps & Pick<Connections, 'addressOf'>;

/** `patienceMs`: for how long a call is waited for; without it, until its end. */
export type Run = { signal: AbortSignal; patienceMs?: number | undefined };
export type Sending = Run & { server: ToolServer; tool: ApprovedTool; who: Identity };
export type Ref = { orgId: string; callId: string };
