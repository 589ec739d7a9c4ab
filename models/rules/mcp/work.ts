/** The workflows of tools and tool servers (MCP). Pure. */
import { customerTaskTimeoutMs, workOf } from '../base/work.ts';

/** The signal that a member has approved or declined a tool call, or that the tool server was disconnected. */
export const decidedSignal = 'decided';

/** Executes a tool call. `decided`: resumes a call that waits for a decision; otherwise the call starts. */
export const toolCallWork = (orgId: string, callId: string, { decided = false } = {}) =>
  workOf({
    workflow: 'toolCall',
    id: `tool:${callId}`,
    queue: 'tools',
    args: [{ orgId, callId }],
    taskTimeoutMs: customerTaskTimeoutMs,
    signal: decided ? decidedSignal : undefined,
  });

/** Lists the tools of a tool server. `request`: the id of the request; each request has its own workflow. */
export const discoverToolsWork = (orgId: string, request: string) =>
  workOf({ workflow: 'discoverTools', id: `discover:${orgId}:${request}`, queue: 'tools', args: [{ orgId }] });

/** Starts the OAuth sign-in to a tool server. `request`: the id of the request; each request has its own workflow. */
export const beginToolGrantWork = (orgId: string, grantId: string, request: string) =>
  workOf({
    workflow: 'beginToolGrant',
    id: `tool-grant:${orgId}:${request}`,
    queue: 'tools',
    args: [{ orgId, grantId }],
  });

/** Completes the OAuth sign-in to a tool server after the browser has been redirected back to this system. */
export const finishToolGrantWork = (orgId: string, grantId: string) =>
  workOf({ workflow: 'finishToolGrant', id: `tool-grant:${grantId}`, queue: 'tools', args: [{ orgId, grantId }] });
