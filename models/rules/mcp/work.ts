import { customerTaskTimeoutMs, workOf } from '../base/work.ts';

/**
 * The signal that a decision on a tool call or an answer to its question was stored, or that the tool server was
 * disconnected.
 */
export const decidedSignal = 'decided';

/**
 * The workflow that executes a tool call. `decided`: whether to resume a call that waits for a decision; otherwise the
 * call starts.
 */
export const toolCallWork = (orgId: string, callId: string, { decided = false } = {}) =>
  workOf(
    'toolCall',
    'tools',
    `tool:${callId}`,
    [{ orgId, callId }],
    decided ? decidedSignal : undefined,
    customerTaskTimeoutMs,
  );

/**
 * The workflow that lists the tools of a tool server. `request`: the id of the request; each request has its own
 * workflow.
 */
export const discoverToolsWork = (orgId: string, request: string) =>
  workOf('discoverTools', 'tools', `discover:${orgId}:${request}`, [{ orgId }]);

/**
 * The workflow that starts the OAuth sign-in to a tool server. `request`: the id of the request; each request has its
 * own workflow.
 */
export const beginToolGrantWork = (orgId: string, grantId: string, request: string) =>
  workOf('beginToolGrant', 'tools', `tool-grant:${orgId}:${request}`, [{ orgId, grantId }]);

/**
 * The workflow that completes the OAuth sign-in to a tool server after the browser has been redirected back to this
 * system.
 */
export const finishToolGrantWork = (orgId: string, grantId: string) =>
  workOf('finishToolGrant', 'tools', `tool-grant:${grantId}`, [{ orgId, grantId }]);
