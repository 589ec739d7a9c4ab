/** What is started for tools. Pure. */
import { workOf } from '../base/work.ts';

/** Sent when somebody has decided about a call, or when its server was disconnected. */
export const decidedSignal = 'decided';

/** A customer waits for what the workflow's task does. */
const taskTimeoutMs = 5_000;

/** Carries out a call. `decided`: goes on with a call that waits; without it the call is begun. */
export const toolCallWork = (orgId: string, callId: string, { decided = false } = {}) =>
  workOf({
    workflow: 'toolCall',
    id: `tool:${callId}`,
    queue: 'tools',
    args: [{ orgId, callId }],
    taskTimeoutMs,
    signal: decided ? decidedSignal : undefined,
  });

/** Lists what a tool server offers. `request`: each has a workflow of its own. */
export const discoverToolsWork = (orgId: string, request: string) =>
  workOf({ workflow: 'discoverTools', id: `discover:${orgId}:${request}`, queue: 'tools', args: [{ orgId }] });

/** Begins to sign in to a tool server. `request`: each has a workflow of its own. */
export const beginToolGrantWork = (orgId: string, grantId: string, request: string) =>
  workOf({
    workflow: 'beginToolGrant',
    id: `tool-grant:${orgId}:${request}`,
    queue: 'tools',
    args: [{ orgId, grantId }],
  });

/** Ends the sign-in that a browser comes back from. */
export const finishToolGrantWork = (orgId: string, grantId: string) =>
  workOf({ workflow: 'finishToolGrant', id: `tool-grant:${grantId}`, queue: 'tools', args: [{ orgId, grantId }] });
